import { settingTopics } from '../contract/settings.ts';

const BEGIN = '<!-- Made by `npm run generate` from src/contract/settings.ts. Change it there. -->';
const END = '<!-- End of the generated part. -->';

/** The page on settings with its tables as the contract has them. The text around the tables is written by hand. */
export function withSettingTables(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('The page on settings has lost the marks around its tables.');
  return `${page.slice(0, begin + BEGIN.length)}\n\n${tables()}\n\n${page.slice(end)}`;
}

function tables(): string {
  return settingTopics
    .flatMap(({ title, settings }) => [
      [
        `## ${title}`,
        '',
        '| Name | Meaning | Default |',
        '|---|---|---|',
        ...settings.map(({ name, meaning, default: preset = '' }) =>
          `| \`${name}\` | ${meaning} | ${preset} |`.replace('|  |', '| |'),
        ),
      ].join('\n'),
    ])
    .join('\n\n');
}
