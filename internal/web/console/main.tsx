import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { start } from './session';

void start();
createRoot(document.getElementById('console')!).render(<StrictMode><App /></StrictMode>);
