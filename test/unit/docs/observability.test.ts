import { describe, expect, test } from 'vitest'
import { codesIn, filesBelow, readText, rowsBelow } from './markdown.ts'

/** docs/observability.md against the code that writes what it lists. */
const PAGE = readText('docs/observability.md')
const named = (title: string) => rowsBelow(PAGE, title).flatMap(([first = '']) => codesIn(first))
const source = (...folders: readonly string[]) =>
  filesBelow(folders, '.ts')
    .map((path) => readText(path))
    .join('\n')

describe('docs/observability.md', () => {
  test('lists every metric there is', () => {
    // Executions that ended with nobody there are counted by who looks at them.
    const counted = ['run-store/run-metrics.ts', 'machine.ts']
      .map((file) => readText(`functions/aws/${file}`))
      .join('\n')
    const ofStore = [...counted.matchAll(/'(tokens|usd)'|\b(runs_\w+|places_\w+):/g)]
    // What an event counts as is in its row: a name, or a function with names.
    const rows = readText('shared/runs/event-types.ts')
    const ofEvents = [...rows.matchAll(/^ +(?:\.\.\..*, )?metric: .*$|^.* metric: '\w+'.*$/gm)].flatMap(([line]) => [
      ...line
        .slice(line.indexOf('metric: '))
        .matchAll(/'((?!provider_throttled|passed|waived)\w+_\w+)'|\b(\w+_\w+): /g),
    ])
    const written = [...ofStore, ...ofEvents].map(([, text, key]) => text ?? key ?? '')
    expect(named('Metrics').toSorted()).toEqual([...new Set([...written, 'unexpected_errors'])].sort())
  })

  test('lists every attribute of a span', () => {
    const text = source('shared/telemetry')
    const whole = [...text.matchAll(/'((?:gen_ai|server|error|sluice)\.[\w.]+)'/g)].map(([, name = '']) => name)
    const asked = [...text.matchAll(/^ {2}\['(\w+)', \[/gm)].map(([, name]) => `gen_ai.request.${name}`)
    // Names of providers.
    const written = [...whole, ...asked].filter((name) => !name.startsWith('sluice.ts'))
    expect(named('Traces').toSorted()).toEqual([...new Set(written)].sort())
  })
})
