import { describe, expect, test } from 'vitest'
import { jsonLines, sluice } from './run-cli.ts'

describe('sluice research validate --ndjson', () => {
  test('answers each line with its id, in order, and exits 0 whatever it found', async () => {
    const stdin = [
      { id: 1, type: 'Intent', input: { topic: 'Norway' } },
      { id: 'b', type: 'EntityID', input: 'acme.ops.geo.atlas.country' },
      { id: 'c', type: 'IsValidDecomposeScope', input: '' },
      { id: 'd', type: 'Invented', input: {} },
    ]
      .map((line) => JSON.stringify(line))
      .concat('no json', '')
      .join('\n')
    const { code, out } = await sluice(['research', 'validate', '--ndjson'], { stdin })
    expect(code).toBe(0)
    expect(jsonLines(out)).toEqual([
      { id: 1, accepted: true, errors: [] },
      { id: 'b', accepted: false, errors: [{ code: 'arity', path: '', message: expect.stringContaining('(arity)') }] },
      { id: 'c', accepted: true, errors: [] },
      { id: 'd', accepted: false, errors: [expect.objectContaining({ code: 'unknown_payload_type' })] },
      { id: null, accepted: false, errors: [expect.objectContaining({ code: 'malformed_line' })] },
    ])
  })

  test('unwraps the message envelope a payload travels in, as a line or as the input of its type', async () => {
    const type = { domain: 'research', category: 'intent', version: 'v1' }
    const meta = { created_at: 1_780_000_000_000, source: 'agent' }
    const envelope = { id: 'm1', type, payload: { topic: 'Norway', unknown: 1 }, meta }
    const lines = [
      envelope,
      { ...envelope, id: 'm2', payload: { topic: ' ' } },
      { ...envelope, id: 'm3', type: { ...type, category: 'plan' } },
      { ...envelope, id: 'm4', type: { domain: 'research' } },
      { id: 5, type: 'Intent', input: envelope },
      { id: 6, type: 'Envelope', input: envelope },
      { id: 7, type: 'SearchResult', input: envelope },
      { type, payload: envelope.payload },
    ]
    const { code, out } = await sluice(['research', 'validate', '--ndjson'], {
      stdin: lines.map((line) => JSON.stringify(line)).join('\n'),
    })
    const said = jsonLines(out) as { id: unknown; errors: { code: string; path: string; message: string }[] }[]
    expect(code).toBe(0)
    expect(said.map(({ id, errors }) => [id, ...errors.map((error) => `${error.code} ${error.path}`)])).toEqual([
      ['m1'],
      ['m2', 'field_blank payload.topic'],
      ['m3', 'unknown_payload_type type'],
      ['m4', 'field_required type.category', 'field_required type.version'],
      [5],
      [6],
      [7, 'field_value type.category'],
      [null, 'field_required id'],
    ])
    expect(said[2]?.errors[0]?.message).toContain('"research.plan.v1"; known are research.intent.v1')
  })

  test('without --ndjson says what it needs', async () => {
    const { code, err } = await sluice(['research', 'validate'])
    expect(code).toBe(2)
    expect(err).toContain('--ndjson')
  })
})
