import { beforeAll, describe, expect, test } from 'vitest'
import { runDemo } from './run-demo.ts'

let out = ''
let code: number | null = null
beforeAll(async () => {
  ;({ out, code } = await runDemo('demo-research.ts'))
})

/** What is printed for one question, without its trace. */
function answerTo(kind: string): string {
  return out.split(`\n${kind}: `)[1]?.split('\nTrace\n')[0] ?? ''
}

describe('npm run demo:research', { tags: ['thorough'] }, () => {
  test('imports the atlas, asks five questions and ends by itself', () => {
    expect(out).toMatch(/^Imported data\/atlas\.ndjson in .*: 1884 created, 0 refused\.$/m)
    expect(out).not.toMatch(/^error:|✗/m)
    expect(code).toBe(0)
    expect(out.match(/^Trace$/gm)).toHaveLength(5)
    expect(out).toMatch(/ODbL-1\.0[\s\S]*CC BY 4\.0/)
  })

  // As the packages' files have it, looked up by hand.
  test.each([
    [
      'Direct',
      [
        /^ {2}Nepal, capital: Kathmandu \[\d+\]\.$/m,
        /^ {2}“It is landlocked\.” \[\d+\]$/m,
        /word for word in \[\d+\], bytes/,
      ],
    ],
    ['Two hops', [/^ {2}Spain, capital: Madrid \[\d+\]\.$/m]],
    ['Comparison', [/^ {2}By area km2, greatest first: Peru 1285216 \[\d+\], Norway 323802 \[\d+\]\.$/m]],
    ['Spatial', [/^ {2}Found there: Bern \[\d+\], Fribourg \[\d+\], Solothurn \[\d+\], Neuchâtel \[\d+\]\.$/m]],
    [
      'Not in the data',
      [/^ {2}No answer found in the graph for: Who won the chess championship of Norway\?$/m, /none cited\.$/m],
    ],
  ])('%s is answered right', (kind, lines) => {
    for (const line of lines) expect(answerTo(kind)).toMatch(line)
    expect(answerTo(kind)).toMatch(/^\d+ tokens, .*\nRun run_\w{26}$/m)
  })

  test('every sentence of every answer is quoted or supported', () => {
    const checks = [
      ...out.matchAll(/^Compared with what is stored: (\d+) of (\d+) sentences? quoted, (\d+) supported/gm),
    ]
    expect(checks).toHaveLength(4)
    for (const [, quoted, all, supported] of checks) expect(Number(quoted) + Number(supported)).toBe(Number(all))
  })
})
