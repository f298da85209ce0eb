import type { ResearchAnswer } from '../../shared/api/research-routes.ts'
import { answerLines } from './answer-lines.ts'
import type { Target } from './api.ts'
import { type CheckedAnswer, checkAnswer } from './check-answer.ts'
import { jsonText } from './json-text.ts'
import type { ExitCode } from './refused.ts'
import type { Session } from './session.ts'
import { traceLines } from './trace-lines.ts'

export interface SayHow {
  readonly trace: boolean
  readonly json: boolean
}

/**
 * Prints an answer, what it cites held against the store. Exit code 1 where there is none, 4 where a sentence of it is
 * unsupported: it was asked for like that, or what it cites has changed since.
 */
export async function sayAnswer(
  session: Session,
  target: Target,
  answer: ResearchAnswer,
  { trace, json }: SayHow,
): Promise<ExitCode> {
  const checked = await checkAnswer(target, answer)
  if (json) session.say(jsonText({ ...answer, checked: checkedJson(checked) }, 2))
  else {
    const { columns } = session.size()
    for (const line of answerLines(answer, checked, columns)) session.say(line)
    for (const line of trace ? ['', ...traceLines(answer, columns)] : []) session.say(line)
  }
  if (answer.result === undefined) return 1
  return checked.sentences.every(({ grounded }) => grounded) ? 0 : 4
}

function checkedJson({ sentences, cited }: CheckedAnswer) {
  return {
    sentences,
    cited: [...cited].map(([place, { entity_id, label }]) => ({
      place,
      entity_id,
      ...(label !== undefined && { label }),
    })),
  }
}
