import { describe, expect, test } from 'vitest'
import { reasonLines } from '../../../clients/cli/terminal/refused.ts'

describe('reasonLines()', () => {
  test('says what happened, then every place with its hint, safe to print', () => {
    const errors = [
      { path: 'blocks[0].id', message: 'no \u001b[31mid', line: 3, column: 5, hint: 'Give it one.' },
      { path: '', message: 'Too long. Cut it.', hint: 'Cut it.' },
    ]
    expect(reasonLines({ code: 'invalid_dag', detail: 'Cannot start.', errors })).toEqual([
      'error: Cannot start. [invalid_dag]',
      '  3:5 blocks[0].id: no id',
      '    Give it one.',
      // The hint is in the message already.
      '  Too long. Cut it.',
    ])
  })

  test('says nothing twice: neither the name of the document nor what the first line has', () => {
    const detail = 'Cannot start DAG "a": Required input "goal" has no value.'
    const errors = [{ path: 'inputs.goal', message: 'Required input "goal" has no value.', hint: 'Give it.' }]
    expect(reasonLines({ code: 'invalid_inputs', detail, errors })).toEqual([
      `error: ${detail} [invalid_inputs]`,
      '  Give it.',
    ])
    const message = 'Cannot compile DAG "my \\"a\\"": block "x" has no id.'
    expect(reasonLines({ code: 'invalid_dag', detail: 'No.', errors: [{ path: '', message, line: 1 }] })[1]).toBe(
      '  1:1 block "x" has no id.',
    )
  })

  test('names commands as a person types them here', () => {
    expect(
      reasonLines({ code: 'no_server', detail: 'Start one with `sluice start`.' }, 'npm run -s sluice --'),
    ).toEqual(['error: Start one with `npm run -s sluice -- start`. [no_server]'])
  })
})
