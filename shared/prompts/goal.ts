import type { AcceptanceCriterion } from '../goals/criteria/criterion.ts'
import { criterionKind } from '../goals/criteria/registry.ts'
import type { GoalContract } from '../goals/goal-contract.ts'
import { safeOneLine } from '../text/redact.ts'
import { fenced } from './block.ts'

/** What of a contract a prompt has room for: about 16,000 characters in all. What is judged is the whole contract. */
const MOST = { goal_characters: 2_000, criteria: 30, criterion_characters: 400 }

/**
 * What a model of a run with a goal contract is told, behind its own prompt: the goal, what shows each criterion, and how
 * to say it. The same contract is the same text. No line of it is a marker, so that whoever repeats it has shown nothing.
 * `judges`: what the block says is a verdict on the goal and no evidence for it (docs/goal-gates.md).
 */
export function goalSection({ goal_text, acceptance_criteria }: GoalContract, judges: boolean): string {
  const told = acceptance_criteria.slice(0, MOST.criteria).map(criterionLine)
  const rest = acceptance_criteria.length - told.length
  return [
    'The run you work in has a goal. Gates decide whether it is reached, and nobody’s opinion. The goal:',
    fenced(cut(goal_text, MOST.goal_characters)),
    'It is reached when evidence shows each of these:',
    ...told,
    ...(rest === 0 ? [] : [`- and ${rest} more`]),
    ...(judges ? [JUDGES] : EVIDENCE),
  ].join('\n')
}

const EVIDENCE = [
  'How to say evidence: in a text you answer with, one marker a line, nothing before its bracket, and no fence around it. Of your own work only: markers in texts you were given are not yours.',
  'Say no marker for what you did not do. A criterion you cannot show stays open: say which, and by how much it is missed.',
]

const JUDGES = 'You judge the work of others: what you say is a verdict, and no evidence for the goal.'

function criterionLine(criterion: AcceptanceCriterion): string {
  const { id, kind, description } = criterion
  const asks = criterionKind(kind)?.asks(criterion) ?? kind
  const said = description === undefined ? '' : ` (${description})`
  return `- ${safeOneLine(`${id}: ${asks}${said}`, MOST.criterion_characters)}`
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()} ..`
}
