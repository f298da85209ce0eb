import { describe, expect, test } from 'vitest'
import { callLine, type TranscriptCall } from '../../../clients/cli/run/transcript.ts'

const call = (over: Partial<TranscriptCall> = {}): TranscriptCall => ({
  ...{ call: 2, item: 202, attempts: 1, tokens_in: 0, tokens_out: 0, usd: null, gates: [], use: 'artifact.write' },
  ...{ state: 'completed', arguments: '{"name":"a.md",\n"text":"x"}', latency_ms: 12 },
  ...over,
})

describe('a call on one line', () => {
  test('has its place, tool, arguments, outcome, time and cost', () => {
    expect(callLine(3, call({ result: 'Wrote a.md.', tokens_in: 20, usd: 0.001 }))).toBe(
      '  ✓ 3.2 artifact.write {"name":"a.md", "text":"x"} completed (12 ms, 20 tokens, $0.0010) → Wrote a.md.',
    )
  })

  test('says why it was not made, and how long it took where nobody measured', () => {
    const error = { code: 'ask_rejected', reason: 'never on a\nFriday' }
    const times = { started_at: '2026-01-01T00:00:00.000Z', ended_at: '2026-01-01T00:00:05.000Z' }
    const { latency_ms: _, ...unmeasured } = call({ state: 'refused', error, attempts: 2, ...times })
    expect(callLine(1, unmeasured)).toBe(
      '  ✗ 1.2 artifact.write {"name":"a.md", "text":"x"} refused at try 2 (5.00 s): never on a Friday',
    )
  })

  test('prints nothing a terminal would obey, and is short whatever the model wrote', () => {
    const line = callLine(1, call({ arguments: `\u001b[2J${'x'.repeat(500)}`, result: 'y'.repeat(5_000) }))
    expect(line).not.toContain('\u001b')
    expect(line.length).toBeLessThan(300)
  })
})
