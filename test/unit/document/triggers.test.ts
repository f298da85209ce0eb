import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { triggersOf } from '../../../shared/document/trigger-section.ts'

/** The section `triggers` of a document: what is taken, with its defaults, and what is said of what is not. */
const HEAD = `name: report
inputs: { day: { type: string }, kind: { type: string, default: plain } }
blocks: [{ id: a, agent: { provider: local, model: m, prompt: "{{inputs.day}}" } }]
triggers:
`
const HMAC = 'verify: { hmac: { header: X-Signature, secret: crm } }'

function read(...triggers: readonly string[]) {
  return parseDag(HEAD + triggers.map((one) => `  - ${one}\n`).join(''))
}

function problems(...triggers: readonly string[]): readonly string[] {
  const read_ = read(...triggers)
  return read_.ok ? [] : read_.errors.map(({ code, message }) => `${code}: ${message.replace(/^.*?: /, '')}`)
}

describe('triggers', () => {
  test('are read with their defaults, and are no part of what a run is pinned to', () => {
    const plain = read()
    const found = read(
      '{ name: nightly, schedule: { cron: "0 6 * * 1-5" }, inputs: { day: "{% $now() %}" } }',
      `{ name: hook, webhook: { ${HMAC}, map: { day: body.day } }, inputs: { kind: crm } }`,
      '{ name: on, event: { name: order.created, match: "detail.n > 1", map: { day: detail.day } } }',
      '{ name: after, run: { dag: import, map: { day: outputs.save.day } }, debounce: { for: 30s }, rate: { limit: 2, per: 1h } }',
    )
    expect(found).toMatchObject({
      ok: true,
      triggers: [
        {
          name: 'nightly',
          kind: 'schedule',
          inputs: { day: '{% $now() %}' },
          schedule: { cron: '0 6 * * 1-5', timezone: 'UTC', overlap: 'skip', catch_up: 'none' },
        },
        {
          name: 'hook',
          kind: 'webhook',
          inputs: { kind: 'crm' },
          webhook: {
            verify: {
              hmac: { header: 'x-signature', secret: 'crm', algorithm: 'sha256', encoding: 'hex', prefix: '' },
            },
            map: { day: 'body.day' },
            max_body_bytes: 65_536,
            max_per_minute: 60,
          },
        },
        {
          name: 'on',
          kind: 'event',
          event: { name: 'order.created', match: 'detail.n > 1', map: { day: 'detail.day' } },
        },
        {
          name: 'after',
          kind: 'run',
          debounce: { for_sec: 30, at_most_sec: 300 },
          rate: { limit: 2, per_sec: 3_600 },
          run: { dag: 'import', ends: ['completed'], map: { day: 'outputs.save.day' } },
        },
      ],
    })
    expect(plain).toMatchObject({ ok: false })
    const without = parseDag(HEAD.replace('triggers:\n', ''))
    expect(found.ok && without.ok && found.dag_hash === without.dag_hash).toBe(true)
  })

  test.each([
    ['{ name: n, inputs: { day: x } }', 'trigger_of_one: triggers[0] of the document has nothing that starts runs'],
    [`{ name: n, schedule: { cron: "0 6 * * *" }, webhook: { ${HMAC} }, inputs: { day: x } }`, 'trigger_of_one'],
    [
      '{ name: n, run: { ends: [failed] }, inputs: { day: x } }',
      'missing_key: triggers[0].run of the document has no "dag"',
    ],
    ['{ name: n, run: { dag: import, ends: [done] }, inputs: { day: x } }', 'ends'],
    ['{ name: n, run: { dag: import, ends: [] }, inputs: { day: x } }', 'ends'],
    [
      '{ name: n, run: { dag: report }, inputs: { day: x } }',
      'trigger_loop: triggers[0].run.dag of the document is "report"',
    ],
    ['{ name: n, run: { dag: import, map: { day: "outputs.(" } } }', 'malformed_expression'],
    [
      '{ name: n, schedule: { cron: "0 6 * * *" }, rate: { limit: 1, per: 1h }, inputs: { day: x } }',
      'pace_of_schedule',
    ],
    ['{ name: n, schedule: { cron: "0 6 * * *" }, debounce: { for: 1m }, inputs: { day: x } }', 'pace_of_schedule'],
    ['{ name: n, event: { name: a }, debounce: {}, inputs: { day: x } }', 'has no "for"'],
    ['{ name: n, event: { name: a }, debounce: { for: 2h }, inputs: { day: x } }', 'allowed is a time of 1 s to 1 h'],
    [
      '{ name: n, event: { name: a }, debounce: { for: 1m, at_most: 30s }, inputs: { day: x } }',
      'allowed is a time of 1 min to 6 h',
    ],
    ['{ name: n, event: { name: a }, rate: { limit: 0, per: 1h }, inputs: { day: x } }', 'limit'],
    ['{ name: n, event: { name: a }, rate: { limit: 1 }, inputs: { day: x } }', 'has no "per"'],
    ['{ name: n, event: { name: a }, rate: { per: often, limit: 1 }, inputs: { day: x } }', 'invalid_value'],
    ['{ name: n, object: {}, inputs: { day: x } }', 'missing_key: triggers[0].object of the document has no "prefix"'],
    ['{ name: n, object: { prefix: /in }, inputs: { day: x } }', 'invalid_value'],
    ['{ name: n, object: { prefix: in/../ }, inputs: { day: x } }', 'invalid_value'],
    ['{ name: n, object: { suffix: .csv, max_bytes: 0 }, inputs: { day: x } }', 'max_bytes'],
    [
      '{ schedule: { cron: "0 6 * * *" }, inputs: { day: x } }',
      'missing_key: triggers[0] of the document has no "name"',
    ],
    ['{ name: n, schedule: { cron: "0 25 * * *" }, inputs: { day: x } }', 'bad_cron'],
    ['{ name: n, schedule: { cron: "* * * * * *" }, inputs: { day: x } }', 'it has 6 fields'],
    ['{ name: n, schedule: { cron: "0 0 30 2 *" }, inputs: { day: x } }', 'it names no day there ever is'],
    ['{ name: n, schedule: {}, inputs: { day: x } }', 'missing_key'],
    [
      '{ name: n, schedule: { cron: "0 6 * * *", timezone: Europe/Berln }, inputs: { day: x } }',
      'Did you mean "Europe/Berlin"?',
    ],
    ['{ name: n, schedule: { cron: "0 6 * * *", overlap: wait }, inputs: { day: x } }', 'overlap'],
    ['{ name: n, schedule: { cron: "0 6 * * *", catch_up: all }, inputs: { day: x } }', 'catch_up_skipped'],
    ['{ name: n, schedule: { cron: "0 6 * * *" }, inputs: { day: "{% $now( %}" } }', 'malformed_expression'],
    ['{ name: n, schedule: { cron: "0 6 * * *" }, inputs: { day: "{%  %}" } }', 'invalid_value'],
    ['{ name: n, schedule: { cron: "0 6 * * *" }, inputs: { day: x, dya: y } }', 'unknown_input'],
    [
      '{ name: n, schedule: { cron: "0 6 * * *" } }',
      'trigger_input_missing: trigger "n" gives no value for the required input "day"',
    ],
    [
      '{ name: n, webhook: { map: { day: body } } }',
      'missing_key: triggers[0].webhook of the document has no "verify"',
    ],
    ['{ name: n, webhook: { verify: {}, map: { day: body } } }', 'has no "hmac"'],
    ['{ name: n, webhook: { verify: { hmac: { secret: s } }, map: { day: body } } }', 'has no "header"'],
    [`{ name: n, webhook: { ${HMAC}, dedupe: "body.(", map: { day: body } } }`, 'malformed_expression'],
    [`{ name: n, webhook: { ${HMAC}, max_body_bytes: 300000, map: { day: body } } }`, 'max_body_bytes'],
    [`{ name: n, webhook: { ${HMAC}, map: { day: body } }, inputs: { day: x } }`, 'input_given_twice'],
    ['{ name: n, event: { name: "a b", map: { day: detail } } }', 'invalid_value'],
    ['{ name: n, event: { map: { day: detail } } }', 'missing_key'],
    ['{ name: n, shedule: { cron: "0 6 * * *" }, inputs: { day: x } }', 'unknown_key'],
  ])('%s', (trigger, told) => {
    expect(problems(trigger).join('\n')).toContain(told)
  })

  test('have names of their own, and at most twenty are read', () => {
    const one = '{ name: n, schedule: { cron: "0 6 * * *" }, inputs: { day: x } }'
    expect(problems(one, one)).toEqual([expect.stringContaining('duplicate_name: triggers[1] has the name "n"')])
    const many = Array.from({ length: 21 }, (_, i) => one.replace('n,', `n${i},`))
    expect(problems(...many)).toEqual([expect.stringContaining('limit_exceeded')])
    expect(problems(...many.slice(0, 20))).toEqual([])
  })

  test('every problem of one is told at its place', () => {
    const found = read('{ name: n, schedule: { cron: "x", timezone: Nowhere }, inputs: { day: "{% ( %}" } }')
    expect(found.ok ? [] : found.errors.map(({ path, line }) => [path, line])).toEqual([
      ['triggers[0].schedule.cron', 5],
      ['triggers[0].schedule.timezone', 5],
      ['triggers[0].inputs.day', 5],
    ])
  })

  test('are read without the rest, sound or not', () => {
    const good = `${HEAD.replace('blocks:', 'bloks:')}  - { name: n, schedule: { cron: "0 6 * * *" } }\n`
    expect(triggersOf(good)).toMatchObject({ sound: true, triggers: [{ name: 'n' }] })
    expect(triggersOf(`${good}  - { name: m, schedule: { cron: x } }\n`)).toMatchObject({
      sound: false,
      triggers: [{ name: 'n' }],
    })
    expect(triggersOf('a: [')).toEqual({ triggers: [], sound: false })
    expect(triggersOf('name: x')).toEqual({ triggers: [], sound: true })
  })
})
