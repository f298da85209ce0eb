import { describe, expect, test } from 'vitest'
import { reasonLines } from '../../../clients/cli/reason-lines.ts'

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
})
