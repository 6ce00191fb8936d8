// This file runs the steps of an action of GitHub, and the script of a component of GitLab, as their runners do: it puts in the inputs, and gives
// each script to a shell.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { run, temporaryFolder } from './lib.mjs';

/** Returns the values of inputs: what is given, or the default. */
function fill(inputs, given) {
  for (const name of Object.keys(given)) assert.ok(inputs[name], `there is no input ${name}`);
  return Object.fromEntries(Object.entries(inputs).map(([name, input]) => {
    assert.ok(name in given || 'default' in input, `the input ${name} is required`);
    return [name, String(given[name] ?? input.default)];
  }));
}

/** Evaluates an expression of GitHub. */
function evaluate(expression, context) {
  const code = expression.replace(/'[^']*'|\b(inputs|steps|github)\.([\w.-]+)/g, (_, root, path) =>
    root ? `at(${JSON.stringify([root, ...path.split('.')])})` : _);
  return new Function('at', `return ${code}`)((path) => path.reduce((value, name) => value?.[name], context) ?? '');
}

/** Puts the values of expressions into a text, as GitHub does before a shell reads it. */
const substitute = (text, context) => String(text).replace(/\$\{\{(.*?)\}\}/g, (_, expression) => evaluate(expression, context));
const substituteAll = (map = {}, context) => Object.fromEntries(Object.entries(map).map(([name, text]) => [name, substitute(text, context)]));

/** Runs a composite action, given as text. Steps that use other actions are listed in `used`. */
export async function runAction(text, given, env, cwd) {
  const action = parse(text), context = { inputs: fill(action.inputs, given), steps: {}, github: { job: 'image' } };
  const result = { code: 0, text: '', summary: '', used: {} };
  for (const step of action.runs.steps) {
    if (step.if && !evaluate(step.if, context)) continue;
    if (step.uses) {
      result.used[step.uses.split('@')[0]] = substituteAll(step.with, context);
      continue;
    }
    assert.equal(step.shell, 'bash');
    const folder = mkdtempSync(join(temporaryFolder(), 'step-')), file = (name) => join(folder, name);
    for (const name of ['output', 'summary']) writeFileSync(file(name), '');
    writeFileSync(file('script'), substitute(step.run, context));
    const done = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file('script')], {
      RUNNER_OS: 'Linux', RUNNER_ARCH: process.arch.toUpperCase(), RUNNER_TEMP: folder, GITHUB_OUTPUT: file('output'), GITHUB_STEP_SUMMARY: file('summary'),
      ...env, ...substituteAll(step.env, context),
    }, cwd);
    result.text += done.text;
    result.summary += readFileSync(file('summary'), 'utf8');
    if (step.id) context.steps[step.id] = { outputs: Object.fromEntries(readFileSync(file('output'), 'utf8').trim().split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2))) };
    if (done.code !== 0) {
      result.code = done.code;
      break;
    }
  }
  result.outputs = substituteAll(Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, value])), context);
  return result;
}

/** Runs the job of a component, given as text. `mint` makes the ID token for an audience. */
export async function runComponent(text, given, mint, env, cwd) {
  const [{ spec }, jobs] = parseAllDocuments(text).map((document) => document.toJS());
  const inputs = fill(spec.inputs, given);
  for (const [name, { options }] of Object.entries(spec.inputs)) assert.ok(!options || options.includes(inputs[name]), `${name} is none of its options`);
  const put = (value) => JSON.parse(JSON.stringify(value), (_, it) => typeof it === 'string' ? it.replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_all, name) => inputs[name] ?? assert.fail(name)) : it);
  const [job] = Object.values(put(jobs)), folder = mkdtempSync(join(temporaryFolder(), 'job-'));
  const tokens = Object.fromEntries(Object.entries(job.id_tokens).map(([name, { aud }]) => [name, mint(aud)]));
  // A variable may name others, whose values a shell does not read either.
  const expand = (value) => value.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, one, other) => env[one ?? other] ?? '');
  writeFileSync(join(folder, 'script'), job.script.join('\n'));
  const variables = Object.fromEntries(Object.entries(job.variables).map(([name, value]) => [name, expand(value)]));
  return { ...await run('sh', ['-e', join(folder, 'script')], { ...env, ...variables, ...tokens }, cwd), job };
}
