import { describe, expect, test } from 'vitest'
import { STAGE_EVENTS } from '../../../functions/research/stage-call.ts'
import { PAYLOAD_CHECKS } from '../../../shared/research/payload-checks.ts'
import { CandidateSchema, EvidenceSchema } from '../../../shared/research/payloads/candidate-and-evidence.ts'
import { IntentSchema } from '../../../shared/research/payloads/intent.ts'
import { SearchResultSchema } from '../../../shared/research/payloads/result.ts'
import { ROUTE_ACTIONS, RouteDecisionSchema } from '../../../shared/research/payloads/route-decision.ts'
import {
  AssessmentOutputSchema,
  ClassifierOutputSchema,
  ExecutionOutputSchema,
} from '../../../shared/research/payloads/stage-outputs.ts'
import { AGGREGATIONS } from '../../../shared/research/question/hint-patterns.ts'
import { ResearchSettingsSchema } from '../../../shared/research/settings.ts'
import { STAGES } from '../../../shared/research/stages.ts'
import { codesIn, readText, rowsBelow } from './markdown.ts'

const TEXT = readText('docs/research.md')
const firstCells = (heading: string) => rowsBelow(TEXT, heading).map(([cell = '']) => codesIn(cell)[0])

describe('docs/research.md', () => {
  test.each([
    ['Intent', IntentSchema],
    ['ClassifierOutput', ClassifierOutputSchema],
    ['Candidate', CandidateSchema],
    ['RouteDecision', RouteDecisionSchema],
    ['Evidence', EvidenceSchema],
    ['SearchResult', SearchResultSchema],
    ['ExecutionOutput', ExecutionOutputSchema],
    ['AssessmentOutput', AssessmentOutputSchema],
  ] as const)('%s has exactly the members of the payload', (heading, schema) => {
    expect(firstCells(heading)).toEqual(Object.keys(schema.shape))
  })

  test('the table of the command has exactly its types', () => {
    expect(firstCells('The research chain: payloads, hints, routes, bounds, quotes')).toEqual(
      Object.keys(PAYLOAD_CHECKS),
    )
  })

  test('Models has exactly the settings with their defaults, Stages the stages with their events', () => {
    const defaults = ResearchSettingsSchema.parse({})
    const settings = rowsBelow(TEXT, 'Models').map(([key = '', value = '']) => [codesIn(key)[0], value])
    expect(settings.map(([key]) => key)).toEqual(Object.keys(ResearchSettingsSchema.shape))
    for (const key of ['provider', 'model', 'max_tokens', 'timeout_ms', 'classifier_tier_3'] as const) {
      const told = settings.find(([name]) => name === key)?.[1]
      expect(told?.replaceAll('`', '')).toBe(String(defaults[key]))
    }
    expect(rowsBelow(TEXT, 'Stages').map(([stage = '', event = '']) => [codesIn(stage)[0], codesIn(event)[0]])).toEqual(
      STAGES.map((stage) => [stage, STAGE_EVENTS[stage]]),
    )
  })

  test('Routes has exactly the actions, Hints every aggregation', () => {
    expect(firstCells('Routes')).toEqual([...ROUTE_ACTIONS])
    const [aggregation] = rowsBelow(TEXT, 'Hints').filter(([key = '']) => key.includes('aggregation_type'))
    expect(codesIn(aggregation?.[2] ?? '')).toEqual([...AGGREGATIONS])
  })
})
