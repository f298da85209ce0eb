import { describe, expect, test } from 'vitest'
import { isPredicate } from '../../../shared/graph/triple.ts'
import { PIPELINE_ROLE, RESEARCH_PREDICATES, TRIPLE_SOURCE } from '../../../shared/research/loop-entity.ts'
import {
  DEFAULT_BUDGET_TOKENS,
  DEFAULT_MAX_ITERATIONS,
  resolveBudgets,
} from '../../../shared/research/payloads/intent.ts'
import { decomposeScopeLimit } from '../../../shared/research/payloads/route-decision.ts'

describe('resolveBudgets()', () => {
  test('absent and 0 are 4000 tokens and 5 rounds', () => {
    expect([DEFAULT_BUDGET_TOKENS, DEFAULT_MAX_ITERATIONS]).toEqual([4000, 5])
    expect(resolveBudgets({})).toEqual({ budget_tokens: 4000, max_iterations: 5 })
    expect(resolveBudgets({ budget_tokens: 0, max_iterations: 0 })).toEqual({ budget_tokens: 4000, max_iterations: 5 })
  })

  test('what was said holds', () => {
    expect(resolveBudgets({ budget_tokens: 99, max_iterations: 1 })).toEqual({ budget_tokens: 99, max_iterations: 1 })
  })
})

test('the bounds of scopes are 3, 8 and 20; nothing said is medium', () => {
  expect(['narrow', 'medium', 'broad', '', undefined].map(decomposeScopeLimit)).toEqual([3, 8, 20, 8, 8])
})

test('the constants are those of the seed', () => {
  expect(Object.values(RESEARCH_PREDICATES)).toEqual([
    'research.requested',
    'research.topic',
    'research.hint',
    'research.budget_tokens',
    'research.max_iterations',
    'research.parent_loop',
    'loop.role',
    'research.route_rationale',
    'research.synthesis',
  ])
  expect(Object.values(RESEARCH_PREDICATES).every(isPredicate)).toBe(true)
  expect([PIPELINE_ROLE, TRIPLE_SOURCE]).toEqual(['research_pipeline', 'agent-research-graph'])
})
