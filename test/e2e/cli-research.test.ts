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

  test('without --ndjson says what it needs', async () => {
    const { code, err } = await sluice(['research', 'validate'])
    expect(code).toBe(2)
    expect(err).toContain('--ndjson')
  })
})
