import { defineConfig } from 'vite';

// The page and the server have one origin, so nothing has to be allowed at the server.
const { ATRIUM_URL = 'http://127.0.0.1:8080', PORT = '5173' } = process.env;

export default defineConfig({
  clearScreen: false,
  server: {
    host: '127.0.0.1',
    port: Number(PORT),
    proxy: { '/graphql': { target: ATRIUM_URL, changeOrigin: true } },
  },
});
