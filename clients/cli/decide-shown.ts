import { asksWaiver } from '../../shared/runs/asks-waiver.ts'
import type { Target } from './api.ts'
import type { Approval } from './approval-answer.ts'
import { askPerson } from './ask-person.ts'
import { commandLine } from './command-line.ts'
import { Refused } from './refused.ts'
import { type Decided, type DecisionToSend, sendDecision } from './send-decision.ts'
import type { Session } from './session.ts'

interface Yes {
  readonly runId: string
  readonly approval: Approval
  readonly decision: 'approve' | 'waive' | 'reject'
  /** What a person sees before they answer. */
  readonly lines: readonly string[]
  /** Nobody is asked on a terminal. */
  readonly yes: boolean
  /** stdout carries the answer only. */
  readonly json: boolean
  readonly more: Partial<DecisionToSend>
}

/** Shows what is asked, asks for a yes to the decision on a terminal, and sends it with the digest of what was shown. */
export async function decideShown(session: Session, target: Target, given: Yes): Promise<Decided> {
  const { runId, approval, decision, lines, yes, json, more } = given
  const show = json ? session.warn : session.say
  for (const line of lines) show(line)
  const other = (words: string) =>
    commandLine(session, target, `run ${words} ${runId} --block ${approval.block_id} --feedback ".."`)
  if (decision === 'approve' && asksWaiver(approval)) {
    const detail = `Cannot approve what block ${approval.block_id} asks: its gates failed, a yes waives them and needs a reason: ${other('waive')}`
    throw new Refused({ code: 'waive_expected', detail })
  }
  const instead = decision === 'reject' ? 'Nothing was decided.' : `Nothing was decided. To reject: ${other('reject')}`
  await askPerson(session, { question: QUESTION[decision], yes, instead })
  return sendDecision(target, runId, { approval, decision, by: yes ? 'cli --yes' : 'cli', ...more })
}

const QUESTION = { approve: 'Approve?', waive: 'Waive what failed?', reject: 'Reject?' } as const
