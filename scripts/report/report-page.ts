import { KINDS } from './areas.ts'
import type { Summary } from './summarize.ts'

/** reports/test-summary.md: the same for people who decide whether to trust it. */
export function reportPage(summary: Summary): string {
  const { at, note, totals, kinds, matrix, failed_files, slowest, coverage } = summary
  const kindRows = KINDS.map((kind) => {
    const { files, passed, failed, skipped, listed, seconds } = kinds[kind] ?? totals
    return [kind, files, passed, failed, skipped, listed, seconds]
  })
  const areaRows = matrix.map(({ area, tests, risk }) => [area, ...KINDS.map((kind) => tests[kind] ?? 0), risk])
  const gaps = matrix.flatMap(({ area, gap, missing }) => [
    ...(gap === '' ? [] : [`- ${area}: ${gap}.`]),
    ...(missing.length === 0 ? [] : [`- ${area}: no tests of kind ${missing.join(', ')}.`]),
  ])
  const parts = [
    '# Tests: what was run, and what nobody tested',
    `Written by \`npm run test:report\` on ${at.slice(0, 10)}. ${note}`,
    `**${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped**, ${totals.listed} more were found and not run here: \`npm test\`, \`npm run test:faults\` and \`npm run test:aws\` run them.`,
    ...(failed_files.length === 0 ? [] : [`Failed: ${failed_files.map((file) => `\`${file}\``).join(', ')}.`]),
    `## By kind\n\n${table(['kind', 'files', 'passed', 'failed', 'skipped', 'not run', 'seconds'], kindRows)}`,
    `## By area\n\nTests there are, by area and kind. A file counts once, where its name fits first. The campaign of \`npm run test:faults\` attacks store, machine, approvals, goals and research at once, thousands of seeds in one program: it is no test file, and no number here.\n\n${table(['area', ...KINDS, 'what is at stake'], areaRows)}`,
    `## Gaps\n\n${gaps.join('\n')}`,
    `## Coverage\n\n${table(
      ['measure', 'percent'],
      Object.entries(coverage).map(([name, percent]) => [name, percent.toFixed(1)]),
    )}\n\n[coverage-summary.json](coverage/coverage-summary.json) has it by folder. \`shared\`, \`functions\`, \`infra/local\` and \`clients/cli\` are counted.`,
    `## Slowest files\n\n${table(
      ['file', 'seconds'],
      slowest.map(({ file, seconds }) => [file, seconds]),
    )}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
