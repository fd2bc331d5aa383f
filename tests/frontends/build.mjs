// Bundles pages into OUT: `node build.mjs OUT NAME…`. Runs where the packages are installed.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parse } from 'node:path';
import { build } from 'esbuild';

const [out, ...names] = process.argv.slice(2);
mkdirSync(out, { recursive: true });

// Svelte and Solid have compilers of their own; they are loaded where a page needs one.
const svelte = {
  name: 'svelte',
  setup({ onLoad }) {
    onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const { compile } = await import('svelte/compiler');
      const { js } = compile(await readFile(path, 'utf8'), { filename: path, generate: 'client', css: 'injected' });
      return { contents: js.code, loader: 'js' };
    });
  },
};
const solid = {
  name: 'solid',
  setup({ onLoad }) {
    onLoad({ filter: /pages\/solid\.jsx$/ }, async ({ path }) => {
      const { transformAsync } = await import('@babel/core');
      const { code } = await transformAsync(await readFile(path, 'utf8'), { filename: path, presets: ['solid'], configFile: false });
      return { contents: code, loader: 'js' };
    });
  },
};

const sources = readdirSync('pages').filter((file) => names.includes(parse(file).name));
const { outputFiles } = await build({
  entryPoints: sources.map((file) => `pages/${file}`),
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  jsx: 'automatic',
  // Fonts and pictures are no part of what is tested.
  loader: { '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.svg': 'empty', '.png': 'empty' },
  define: {
    'process.env.NODE_ENV': '"production"',
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  alias: { vue: 'vue/dist/vue.esm-bundler.js' },
  conditions: ['browser', 'svelte'],
  plugins: [svelte, solid],
  logLevel: 'error',
  write: false,
});
const styled = new Set();
for (const { path, contents } of outputFiles) {
  writeFileSync(path, contents);
  if (path.endsWith('.css')) styled.add(parse(path).name);
}
for (const name of names) {
  const style = styled.has(name) ? `<link rel="stylesheet" href="${name}.css">` : '';
  writeFileSync(`${out}/${name}.html`, `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title>
<script src="ledger.js"></script>${style}<main id="root"></main><script src="${name}.js"></script>`);
}
