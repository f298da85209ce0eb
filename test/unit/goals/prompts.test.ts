import { describe, expect, test } from 'vitest'
import { parseDag } from '../../../shared/document/parse.ts'
import { CRITERION_KINDS } from '../../../shared/goals/criteria/registry.ts'
import { DECISION_TABLE } from '../../../shared/goals/decision-table.ts'
import { DEFAULT_MAX_ATTEMPTS } from '../../../shared/goals/goal-contract.ts'
import { MARKER_TYPES, parseMarkers } from '../../../shared/goals/marker.ts'
import { TRUST_BANDS } from '../../../shared/goals/trust-gate.ts'
import { CLAIM_WEIGHTS, REJECTED_FINDING_COSTS } from '../../../shared/goals/verify-claims.ts'
import { PROMPT_TEMPLATES } from '../../../shared/prompts/templates.ts'

const { planner, worker, verifier } = PROMPT_TEMPLATES

describe('the prompt templates', () => {
  test('the planner states a contract before work, and shows the table as it is', () => {
    expect(planner).toContain('Before anything else you state the goal contract')
    for (const { kind, summary } of CRITERION_KINDS) {
      expect(planner).toContain(`"kind":"${kind}"`)
      expect(planner).toContain(summary)
    }
    const rows = DECISION_TABLE.filter(({ goal }) => goal !== 'NO_CONTRACT')
    const shown = rows.map(
      ({ trust, goal, final, action }) => `- trust ${trust}, goal ${goal}: ${final}, next ${action}`,
    )
    expect(shown.filter((row) => !planner.includes(row))).toEqual([])
    expect(planner.match(/^- trust /gm)).toHaveLength(6)
    expect(planner.match(/quality gates pass too/g)).toHaveLength(1)
  })

  test('the worker checks before it claims, and names what shows each criterion', () => {
    expect(worker).toContain(
      'Never claim SUCCESS unless every criterion is demonstrably met and you have named what shows each',
    )
    expect(worker).toContain('Before you claim anything, check the goal contract')
    expect(worker).toContain('in the 10 lines before it')
  })

  test('the verifier challenges three times, asks of the goal, and records a mismatch', () => {
    expect(verifier).toContain('Challenge each claim at least three times')
    expect(verifier).toContain('does the evidence show that each acceptance criterion is met')
    expect(verifier).toContain('GOAL_CLAIM_MISMATCH')
    for (const output of ['trust_score', 'challenges', 'findings_verified', 'findings_rejected', 'blockers']) {
      expect(verifier).toContain(output)
    }
  })

  test('the figures they name are those of the code', () => {
    const { statistical_rigor, evidence_quality, metric_verification, completeness, methodology } = CLAIM_WEIGHTS
    expect(verifier).toContain(
      `statistical rigor ${statistical_rigor}, quality of the evidence ${evidence_quality}, metrics that can be verified ${metric_verification}, completeness ${completeness}, methodology ${methodology}, and ${REJECTED_FINDING_COSTS} less for each finding you reject`,
    )
    const [, lowest] = TRUST_BANDS.find(([band]) => band === 'VERIFIED') ?? []
    expect(verifier).toContain(`Below ${lowest} the work is not trusted`)
    expect(planner).toContain(`Trust passes from a score of ${lowest} on`)
    expect(planner).toContain(`max_goal_attempts (a whole number, ${DEFAULT_MAX_ATTEMPTS} if nobody says)`)
  })

  test('the markers the worker is told to print are markers, as they are read', () => {
    const lines = worker.split('\n').filter((line) => line.startsWith('- '))
    const named = lines.flatMap((line) => [...line.matchAll(/\[([A-Z_]+)[\]:]/g)].map(([, type = '']) => type))
    expect(named).toEqual(expect.arrayContaining(['METRIC', 'STAT', 'FINDING', 'ARTIFACT', 'CITATION', 'LIMITATION']))
    expect(named.filter((type) => !MARKER_TYPES.has(type))).toEqual([])
    const metric = /\[METRIC:name\] \S+/.exec(worker)?.[0] ?? ''
    expect(parseMarkers(metric)).toMatchObject([{ type: 'METRIC', subtype: 'name', content: '0.91' }])
  })

  test('none is evidence of anything when it is quoted, and none has a placeholder', () => {
    for (const text of Object.values(PROMPT_TEMPLATES)) {
      expect(parseMarkers(text)).toEqual([])
      expect(text).not.toContain('{{')
    }
  })

  test('an agent is given one by name: its words stand before the system text of the block, and are pinned', () => {
    const agentOf = (more: object) => {
      const read = parseDag(JSON.stringify(withAgent(more)))
      const [block] = read.ok ? read.dag.blocks : []
      return block?.mode === 'ai' ? block.agent : undefined
    }
    for (const [name, text] of Object.entries(PROMPT_TEMPLATES)) {
      expect(agentOf({ prompt_template: name })).toMatchObject({ system: text })
      expect(agentOf({ prompt_template: name, system: 'Be brief.' })).toMatchObject({ system: `${text}\n\nBe brief.` })
      expect(agentOf({ prompt_template: name })).not.toHaveProperty('prompt_template')
    }
    expect(agentOf({ system: 'Be brief.' })).toMatchObject({ system: 'Be brief.' })
    expect(agentOf({})).not.toHaveProperty('system')
  })

  test('a name there is not is refused with those there are', () => {
    const read = parseDag(JSON.stringify(withAgent({ prompt_template: 'verifer' })))
    const [error] = read.ok ? [] : read.errors
    expect(error).toMatchObject({ path: 'blocks[0].agent.prompt_template' })
    expect(error?.message).toMatch(/"?planner"?.*"?worker"?.*"?verifier"?/)
  })
})

function withAgent(more: object): object {
  const agent = { provider: 'local', model: 'outline', prompt: 'Go on.', ...more }
  return { name: 'templates', blocks: [{ id: 'work', outputs: { text: 'string' }, agent }] }
}
