import type { Block } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import { type Question, QuestionSchema } from '../../shared/research/payloads/intent.ts'
import { smallestCaps } from '../../shared/runs/safety.ts'
import type { Json } from '../../shared/text/canonical.ts'
import { orderResearch, RESEARCH_DEADLINE_SEC } from '../runs/order-research.ts'
import type { BlockCall } from './block-call.ts'
import { childCaps } from './budget.ts'
import { type ChildOrder, childFromAttempt, refuseDepth } from './child-order.ts'

type ResearchBlock = Extract<Block, { mode: 'research' }>
type Values = Readonly<Record<string, Json>>

/** What an attempt of a `mode: research` block starts: its question, under what is left of its run's budget and time. */
export async function orderQuestion(
  call: BlockCall,
  block: ResearchBlock,
  attempt: number,
  values: Values,
): Promise<ChildOrder> {
  const { world, meta, run } = call
  await refuseDepth(world, meta, `the research of block "${block.id}"`)
  const question = questionOf(block, values)
  const order = await orderResearch(world, run.tenant, question, `${run.run_id}.${block.id}`)
  const { budget_tokens: tokens } = block.research
  const left = await childCaps(call, { budget: { tokens, on_exceed: 'fail' } })
  return {
    ...order,
    machine: await order.machine(),
    ...childFromAttempt(call, attempt, Math.min(RESEARCH_DEADLINE_SEC, world.settings.safety.max_run_sec)),
    body_hash: order.research.inputs_hash,
    caps: smallestCaps(left, order.caps),
  }
}

/** A hint that comes to nothing is left out; a topic has to say something. */
function questionOf(block: ResearchBlock, values: Values): Question {
  const { topic, hints, ...bounds } = block.research
  const rendered = renderTemplate(topic, values)
  if (!rendered.ok) {
    const message = `Cannot ask the question of block "${block.id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
    throw new Fault('InvalidInput', 'missing_input', message)
  }
  const said = Object.entries(hints).flatMap(([key, text]) => {
    const hint = renderTemplate(text, values)
    return hint.ok && hint.text.trim() !== '' ? [[key, hint.text] as const] : []
  })
  const read = QuestionSchema.safeParse({ topic: rendered.text, hints: Object.fromEntries(said), ...bounds })
  if (read.success) return read.data
  const [issue] = read.error.issues
  const message = `Cannot ask the question of block "${block.id}": "${issue?.path.join('.')}" is not allowed: ${issue?.message}. Shorten or fill it.`
  throw new Fault('InvalidInput', 'invalid_question', message)
}
