import { describe, expect, test } from 'vitest'
import { runExtractiveModel } from '../../../shared/research/extractive/model.ts'
import { readAssessmentAnswer, readRouteAnswer, readSynthesisAnswer } from '../../../shared/research/read-answers.ts'
import { ATLAS, NORWAY } from './atlas.ts'

const topic = 'What is the capital of Norway?'
const candidates = [{ entity_id: NORWAY.entity_id, label: 'Norway', tier: '1', source: 'bm25_index' }]
const textOf = (...asked: Parameters<typeof runExtractiveModel>) => {
  const answer = runExtractiveModel(...asked)
  if (!answer.ok) throw new Error(JSON.stringify(answer.errors))
  return answer.value
}

describe('extractiveText()', () => {
  test('answers a router as a language model would', () => {
    const text = textOf('route_search', { topic, hints: {}, candidates, degraded: false, retighten_rounds: 0 })
    expect(readRouteAnswer(text, 1)).toMatchObject({ ok: true, value: { action: 'walk_seeds' } })
  })

  test('and an assessor, and a synthesizer', () => {
    const evidence = ATLAS
    expect(readAssessmentAnswer(textOf('assess_sufficiency', { topic, evidence }), topic, 3)).toMatchObject({
      ok: true,
      value: { sufficient: true, evidence_count: 3 },
    })
    const read = readSynthesisAnswer(textOf('synthesize_answer', { topic, evidence }))
    expect(read).toMatchObject({ ok: true, value: expect.stringMatching(/^Norway, capital: Oslo \[2\]\.\n/) })
  })

  test('what it is asked with is read like every payload', () => {
    expect(runExtractiveModel('synthesize_answer', { topic })).toMatchObject({
      ok: false,
      errors: [{ path: 'evidence' }],
    })
    expect(runExtractiveModel('route_search', null).ok).toBe(false)
  })
})
