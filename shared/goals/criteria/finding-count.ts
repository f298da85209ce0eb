import * as z from 'zod'
import { type Evidence, type JudgedFinding, judgeFindings, LOOK_BACK_LINES } from '../evidence.ts'
import { CRITERION_BASE, type CriterionKind, type Judgement, sourceOf } from './criterion.ts'

const FindingCountSchema = z.strictObject({
  ...CRITERION_BASE,
  kind: z.literal('finding_count'),
  minCount: z.int().min(0),
})
type FindingCount = z.infer<typeof FindingCountSchema>

export const findingCount: CriterionKind<FindingCount> = {
  kind: 'finding_count',
  summary: `At least \`minCount\` verified findings: a \`[FINDING]\` with a non-empty \`[STAT:ci]\` and a non-empty \`[STAT:effect_size]\` in the ${LOOK_BACK_LINES} lines before it. One that another block says again counts once.`,
  example: { id: 'AC4', kind: 'finding_count', minCount: 2 },
  schema: FindingCountSchema,
  target: ({ minCount }) => minCount,
  asks: ({ minCount }) =>
    `at least ${minCount} verified findings: a line that begins with [FINDING], and in the ${LOOK_BACK_LINES} lines before it one with [STAT:ci] and one with [STAT:effect_size]`,
  judge,
  suggest: ({ minCount }, { actualValue }) =>
    `Verify ${minCount - Number(actualValue)} more: print [STAT:ci] and [STAT:effect_size] in the ${LOOK_BACK_LINES} lines before each [FINDING]`,
}

function judge({ minCount }: FindingCount, evidence: Evidence): Judgement {
  const findings = withoutRepeats(judgeFindings(evidence))
  const verified = findings.filter((one) => one.verified)
  const last = verified.at(-1)
  return {
    status: verified.length >= minCount ? 'MET' : 'NOT_MET',
    actualValue: verified.length,
    message: `${verified.length} of ${findings.length} findings are verified, wanted: at least ${minCount}`,
    ...(last !== undefined && { source: sourceOf(last.finding) }),
  }
}

/** A text that is handed on, whole or in a report, finds nothing more: with the same statistics the first one counts. */
function withoutRepeats(findings: readonly JudgedFinding[]): readonly JudgedFinding[] {
  const saidIn = new Map<string, number>()
  return findings.filter(({ finding, ci, effect_size }) => {
    const said = JSON.stringify([finding.content, ci?.content, effect_size?.content])
    const first = saidIn.get(said) ?? finding.text
    saidIn.set(said, first)
    return first === finding.text
  })
}
