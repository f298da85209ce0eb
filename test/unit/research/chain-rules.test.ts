import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { degradedResult } from '../../../shared/research/claims/claim-lines.ts'
import { MAX_RETIGHTENS, stageAfterAssessment, stageAfterRoute } from '../../../shared/research/next-stage.ts'
import { readPayload } from '../../../shared/research/payloads/codec.ts'
import { searchResultKind } from '../../../shared/research/payloads/result.ts'
import { ROUTE_ACTIONS, routeByDefault, routeErrors } from '../../../shared/research/payloads/route-decision.ts'
import { assessByDefault, assessmentOutputKind } from '../../../shared/research/payloads/stage-outputs.ts'

const none = { retighten_rounds: 0, iterations: 0 }

describe('afterRoute()', () => {
  test('synthesize_directly synthesizes, walk_seeds and decompose execute', () => {
    expect(stageAfterRoute('synthesize_directly', none)).toEqual({ stage: 'synthesize_answer', counters: none })
    expect(stageAfterRoute('walk_seeds', none).stage).toBe('execute_subqueries')
    expect(stageAfterRoute('decompose', none).stage).toBe('execute_subqueries')
  })

  test('retighten classifies again twice; the third verdict still ends in an answer', () => {
    const once = stageAfterRoute('retighten', none)
    const twice = stageAfterRoute('retighten', once.counters)
    const third = stageAfterRoute('retighten', twice.counters)
    expect([once.stage, twice.stage, third.stage]).toEqual(['nl_classify', 'nl_classify', 'synthesize_answer'])
    expect(third.counters.retighten_rounds).toBe(MAX_RETIGHTENS)
    expect(third.degraded_reason).toMatch(/retightened 2 times/)
  })
})

describe('afterAssessment()', () => {
  test('sufficient synthesizes', () => {
    expect(stageAfterAssessment(true, none, { max_iterations: 5, repeats: true })).toEqual({
      stage: 'synthesize_answer',
      counters: none,
    })
  })

  test('refines max_iterations times, counts the rounds, and then ends in an answer all the same', () => {
    const law = fc.property(fc.integer({ min: 1, max: 8 }), (max) => {
      const bounds = { max_iterations: max, repeats: false }
      let next = stageAfterAssessment(false, none, bounds)
      let rounds = 0
      for (; next.stage === 'execute_subqueries'; rounds += 1) next = stageAfterAssessment(false, next.counters, bounds)
      expect(rounds).toBe(max)
      expect(next).toMatchObject({ stage: 'synthesize_answer', counters: { iterations: max, retighten_rounds: 0 } })
      expect(next.degraded_reason).toMatch(new RegExp(`after ${max} refine round${max === 1 ? '' : 's'}$`))
    })
    fc.assert(law, { numRuns: 20 })
  })

  test('does no round that would ask what was asked before', () => {
    const next = stageAfterAssessment(false, none, { max_iterations: 5, repeats: true })
    expect(next).toMatchObject({ stage: 'synthesize_answer', counters: none })
    expect(next.degraded_reason).toMatch(/had been searched for already$/)
  })
})

describe('routeErrors()', () => {
  test('without candidates only retighten and decompose hold', () => {
    const wrong = ROUTE_ACTIONS.filter(
      (action) =>
        routeErrors(
          { action, args: { topic: 't', seeds: [{ ref: 'a', ref_type: 'name' }], axes: ['time'], focus: 'f' } },
          0,
        ).length > 0,
    )
    expect(wrong).toEqual(['synthesize_directly', 'walk_seeds'])
  })

  test('args are part of the decision', () => {
    expect(routeErrors({ action: 'decompose', args: { axes: [] } }, 3).map(({ path }) => path)).toEqual(['args.focus'])
    expect(routeErrors({ action: 'synthesize_directly' }, 3)).toEqual([])
  })

  test('the default is to decompose with the topic as focus, and it holds even without candidates', () => {
    const decision = routeByDefault('pump faults')
    expect(decision).toMatchObject({ action: 'decompose', args: { focus: 'pump faults' } })
    expect(routeErrors(decision, 0)).toEqual([])
  })

  test('rationale decides nothing', () => {
    const law = fc.property(fc.string(), fc.constantFrom(...ROUTE_ACTIONS), (rationale, action) => {
      expect(routeErrors({ action, rationale }, 0)).toEqual(routeErrors({ action }, 0))
    })
    fc.assert(law, { numRuns: 40 })
  })
})

test('the default assessment is not sufficient, searches the topic again and says it is degraded', () => {
  const assessment = assessByDefault('pump faults', 3, 'the assessor answered no JSON twice')
  expect(assessment).toMatchObject({ sufficient: false, refined_queries: ['pump faults'], degraded: true })
  expect(readPayload(assessmentOutputKind, assessment).ok).toBe(true)
})

describe('degradedResult()', () => {
  const ending = {
    topic: 'pump faults',
    reason: 'the budget is spent',
    trace: { retighten_rounds: 1 },
    tokens_used: 7,
    iterations: 2,
  }
  const items = Array.from({ length: 10 }, (_, at) => ({
    entity_id: `e${at}`,
    tier: '1',
    source: 's',
    snippet_text: `text ${at}`,
  }))

  test('says what happened, keeps all evidence and the counters, and is a valid result', () => {
    const result = degradedResult({ ...ending, evidence: items })
    expect(readPayload(searchResultKind, result).ok).toBe(true)
    expect(result).toMatchObject({
      evidence: items,
      tokens_used: 7,
      iterations: 2,
      decomp_trace: { retighten_rounds: 1 },
    })
    expect(result.synthesis).toContain('Degraded: the budget is spent.')
    expect(result.synthesis.match(/\[\d+\]/g)).toHaveLength(8)
  })

  test('without evidence it is an honest no answer', () => {
    const result = degradedResult({ ...ending, evidence: [] })
    expect(result.synthesis).toBe('No answer found in the graph for: pump faults\nDegraded: the budget is spent.')
  })
})
