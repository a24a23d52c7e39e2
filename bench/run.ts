import { print } from './measure.ts';

/** `npm run bench`, or a part of it: `npm run bench -- door`, likewise `singles`, `pace`, `neighbours`, `post`, `import`, `walk` and `cores`. */
const parts: Record<string, () => Promise<unknown>> = {
  door: () => import('./door.ts'),
  singles: () => import('./singles.ts'),
  pace: () => import('./pace.ts'),
  neighbours: () => import('./neighbours.ts'),
  post: () => import('./post.ts'),
  import: () => import('./import.ts'),
  walk: () => import('./walk.ts'),
  cores: () => import('./cores.ts'),
};
const wanted = process.argv.slice(2);
for (const part of wanted.length > 0 ? wanted : Object.keys(parts)) await parts[part]?.();
print();
process.exit(0);
