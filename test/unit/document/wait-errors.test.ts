import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'

/** A block that waits; `▶` stands right before the place of the error. */
const waits = (wait: string, more = '') =>
  `inputs: { at: string }
blocks:
  - id: pause
    mode: wait
    inputs: { at: { type: string } }
    wait: ${wait}
    ${more}`

type Row = readonly [code: string, path: string, text: string, message: string]

const ROWS: readonly Row[] = [
  ['wait_for_one', 'wait', waits('{}').replace('wait: {', '▶wait: {'), 'allowed is exactly one of'],
  ['wait_for_one', 'wait', waits('{ for: 1h, callback: true }').replace('wait: {', '▶wait: {'), '2 things to wait for'],
  ['invalid_value', 'wait.for', waits('{ for: ▶soon }'), 'as 90s, 2h or 1d12h'],
  ['invalid_value', 'wait.for', waits('{ for: ▶0 }'), 'from 1s on'],
  ['invalid_value', 'wait.for', waits('{ for: ▶-5 }'), 'from 1s on'],
  ['limit_exceeded', 'wait.for', waits('{ for: ▶301d }'), 'the limit is 300 d'],
  ['invalid_value', 'wait.until', waits('{ until: ▶"2026-12-24 18:00" }'), 'with its offset'],
  ['invalid_value', 'wait.until', waits('{ until: ▶"2026-12-24T18:00:00" }'), 'with its offset'],
  ['invalid_value', 'wait.until', waits('{ until: ▶"on {{inputs.at}}" }'), 'one placeholder'],
  ['mode_mismatch', 'wait.timeout', waits('{ for: 1h, ▶timeout: 2h }'), 'does not go with "for"'],
  ['mode_mismatch', 'wait.on_timeout', waits('{ until: "{{inputs.at}}", ▶on_timeout: fail }'), 'its time is its end'],
  ['missing_key', 'wait.event.name', waits('{ event: ▶{ key: a } }'), 'name'],
  ['invalid_value', 'wait.event.name', waits('{ event: { name: ▶"a b" } }'), 'a name is'],
  ['unknown_key', 'wait.event.nmae', waits('{ event: { name: a, ▶nmae: b } }'), 'Did you mean "name"?'],
  ['unknown_key', 'wait.untill', waits('{ for: 1h, ▶untill: b }'), 'Did you mean "until"?'],
  ['invalid_value', 'wait.on_timeout', waits('{ callback: true, on_timeout: ▶skip }'), '"complete"'],
  ['limit_exceeded', 'wait.timeout', waits('{ callback: true, timeout: ▶1000d }'), 'the limit is 300 d'],
  ['output_never_given', 'outputs.n', waits('{ for: 1h }', 'outputs: { ▶n: number }'), 'required: false'],
  [
    'output_never_given',
    'outputs.n',
    waits('{ callback: true, on_timeout: complete }', 'outputs: { ▶n: number }'),
    'with on_timeout: complete there may be none',
  ],
]

describe('a wait that is wrong', () => {
  test.each(ROWS)('is %s at %s: %s', (code, path, marked, message) => {
    const at = marked.indexOf('▶')
    const before = marked.slice(0, at).split('\n')
    const parsed = parseDag(marked.replace('▶', ''))
    const errors = parsed.ok ? [] : parsed.errors
    const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    expect(errors).toMatchObject([{ code, path: `blocks[0].${path}`, ...place }])
    expect(`${errors[0]?.message} ${errors[0]?.hint ?? ''}`).toContain(message)
  })

  test.each([
    ['foreach beside a callback', waits('{ callback: true }', 'foreach: { items: [a] }')],
    ['a cache', waits('{ for: 1h }', 'cache: { ttl_sec: 60 }')],
    ['a match that is no JSONata', waits('{ event: { name: a, match: "((" } }')],
    [
      'a match of a thousand and one characters twice',
      waits(`{ event: { name: a, match: "${'1+'.repeat(1_001)}1" } }`),
    ],
    ['no section', waits('').replace(/ +wait: \n/, '')],
    ['a deep section', waits(`{ event: { name: ${'['.repeat(400)}${']'.repeat(400)} } }`)],
    ['a name with control characters', waits('{ event: { name: "a\\u0000b" } }')],
  ])('is refused: %s', (_what, text) => {
    expect(parseDag(text)).toMatchObject({ ok: false })
  })

  test.each([
    ['for', '{ for: 1d12h }', { kind: 'for', sec: 129_600 }],
    ['a number of seconds', '{ for: 90 }', { kind: 'for', sec: 90 }],
    ['until', '{ until: "2026-12-24T18:00:00+01:00" }', { kind: 'until', at: '2026-12-24T18:00:00+01:00' }],
    [
      'an event',
      '{ event: { name: a.b, key: "{{inputs.at}}", match: "event.payload.n > 1" }, timeout: 5m }',
      { kind: 'event', name: 'a.b', key: '{{inputs.at}}', timeout_sec: 300, on_timeout: 'fail' },
    ],
    ['a callback', '{ callback: true }', { kind: 'callback', timeout_sec: 604_800, on_timeout: 'fail' }],
  ])('is read when it is right: %s', (_what, wait, expected) => {
    const parsed = parseDag(waits(wait))
    expect(parsed.ok ? [] : parsed.errors).toEqual([])
    expect(parsed).toMatchObject({ dag: { blocks: [{ mode: 'wait', wait: expected }] } })
  })
})
