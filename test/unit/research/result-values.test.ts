import { describe, expect, test } from 'vitest'
import { RESULT_PORTS } from '../../../shared/document/ports.ts'
import { researchBlockOutputs } from '../../../shared/research/payloads/result.ts'
import { fitsPort } from '../../../shared/runs/block-inputs.ts'

const item = (n: number) => ({ entity_id: `a.a.a.a.a.e${n}`, tier: '1', source: 'bm25_index', snippet_text: `s${n}` })
const RESULT = { synthesis: 'Oslo [1].', evidence: [item(1), item(2)], decomp_trace: { retighten_rounds: 1 } }

describe('resultValues()', () => {
  test('fills every port a research block may declare, with values of its type', () => {
    const values = researchBlockOutputs({ ...RESULT, tokens_used: 7, iterations: 2 })
    expect(Object.keys(values).toSorted()).toEqual(Object.keys(RESULT_PORTS).toSorted())
    for (const [port, { type }] of Object.entries(RESULT_PORTS))
      expect([port, fitsPort(type, values[port] ?? null)]).toEqual([port, true])
    expect(values).toMatchObject({ synthesis: 'Oslo [1].', tokens_used: 7, iterations: 2 })
    expect(values.result).toMatchObject({ synthesis: 'Oslo [1].', evidence: values.evidence })
  })

  test('fills every port that is required of a result that found nothing', () => {
    const values = researchBlockOutputs({ synthesis: 'No answer found.' })
    const required = Object.entries(RESULT_PORTS).flatMap(([port, one]) => (one.required ? [port] : []))
    expect(Object.keys(values).toSorted()).toEqual(required.toSorted())
    expect(values).toMatchObject({ evidence: [], sources: [], tokens_used: 0, iterations: 0 })
  })

  test('has the texts the answer was held against, else the snippets, as far as there is room', () => {
    const textsOf = (texts?: readonly string[]) =>
      (researchBlockOutputs(RESULT, texts).sources as readonly { text: string }[]).map(({ text }) => text)
    expect(textsOf()).toEqual(['s1', 's2'])
    expect(textsOf(['whole', 'other'])).toEqual(['whole', 'other'])
    const [first = '', second] = textsOf(['x'.repeat(2_000_000), 'other'])
    expect([first.length, second]).toEqual([1_048_576, ''])
  })
})
