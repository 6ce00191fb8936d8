// This file finds the packages that are in this folder because they need graphql 16.

import { createRequire } from 'node:module';

export default createRequire(import.meta.url);
