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
    const counted = readText('functions/aws/run-store/run-store.ts')
    const quoted = [...counted.matchAll(/'([a-z]+_[a-z_]+|tokens|usd)'|\b(runs_\w+|places_\w+):/g)].map(
      ([, text, key]) => text ?? key ?? '',
    )
    // Of an event's own data, or the name of a code.
    const others = new Set(['provider_throttled', 'usd_micros'])
    const written = [...quoted.filter((name) => !others.has(name)), 'unexpected_errors']
    expect(named('Metrics').toSorted()).toEqual([...new Set(written)].sort())
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
