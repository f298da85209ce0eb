import { describe, expect, test } from 'vitest'
import { readAssessmentAnswer, readRouteAnswer, readSynthesisAnswer } from '../../../shared/research/read-answers.ts'

const codes = (
  read:
    | ReturnType<typeof readRouteAnswer>
    | ReturnType<typeof readAssessmentAnswer>
    | ReturnType<typeof readSynthesisAnswer>,
) => (read.ok ? read.value : read.errors.map(({ code, path }) => `${code} ${path}`.trim()))

describe('readRoute()', () => {
  const walk = '{"action":"walk_seeds","args":{"seeds":[{"ref":"0","ref_type":"candidate_index"}]}}'

  test('reads the first JSON object of an answer', () => {
    expect(readRouteAnswer(`Sure:\n\`\`\`json\n${walk}\n\`\`\``, 2).ok).toBe(true)
  })

  test.each([
    ['no JSON', 'I would decompose it.', ['field_required']],
    ['half of it', '{"action":"walk_seeds","args":', ['field_required']],
    ['a list', '["decompose"]', ['field_type']],
    ['another action', '{"action":"answer"}', ['field_value action']],
    [
      'args of another action',
      '{"action":"decompose","args":{"seeds":[]}}',
      ['field_required args.axes', 'field_required args.focus'],
    ],
    ['a walk without candidates', walk, ['field_value action']],
  ])('%s is an error to ask once more with', (_, text, expected) =>
    expect(codes(readRouteAnswer(text, 0))).toEqual(expected),
  )
})

describe('readAssessment()', () => {
  test('takes topic and count from who asked, not from the answer', () => {
    expect(codes(readAssessmentAnswer('{"sufficient":true,"topic":"other","evidence_count":99}', 'mine', 3))).toEqual({
      sufficient: true,
      topic: 'mine',
      evidence_count: 3,
    })
  })

  test.each([
    ['yes', ['field_required']],
    ['{"sufficient":"true"}', ['field_type sufficient']],
    ['{"sufficient":false,"refined_queries":[" "]}', ['field_blank refined_queries[0]']],
  ])('%s is an error', (text, expected) => expect(codes(readAssessmentAnswer(text, 't', 1))).toEqual(expected))
})

describe('readSynthesis()', () => {
  test('reads nothing but the synthesis', () => {
    expect(codes(readSynthesisAnswer('{"synthesis":"Oslo [1].","evidence":[{"entity_id":"made up"}]}'))).toBe(
      'Oslo [1].',
    )
  })

  test.each([
    ['Oslo.', ['field_required']],
    ['{"synthesis":" "}', ['field_blank synthesis']],
    [JSON.stringify({ synthesis: 'x'.repeat(100_001) }), ['field_range synthesis']],
  ])('%.20s is an error', (text, expected) => expect(codes(readSynthesisAnswer(text))).toEqual(expected))
})
