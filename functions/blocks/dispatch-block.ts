import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { Agent, Block } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import { generatedPrompt, withFeedback } from '../../shared/prompts/block-prompt.ts'
import type { DispatchAnswer } from '../../shared/provider.ts'
import { checkOutputs, readAnswer } from '../../shared/runs/output-contract.ts'
import type { BlockCall } from './block-call.ts'
import { decisionOutputs } from './decision-outputs.ts'
import { dispatchHandler, unpriced } from './dispatch-handler.ts'
import type { Dispatch, Produced } from './produced.ts'
import { shortText } from './short-text.ts'

/** Characters of a model's name, a finish reason or a note in block:output. */
const MOST_WORDS = 300

/** Does the block's work once. Each mode has its own way; all end in the same contract. */
export function dispatchBlock(call: BlockCall, dispatch: Dispatch): Promise<Produced> {
  const { block } = call
  switch (block.mode) {
    case 'ai':
      return dispatchAgent(call, block, dispatch)
    case 'deterministic':
      return dispatchHandler(call, block, dispatch)
    case 'approval':
      return dispatchDecision(call, dispatch)
    case 'dag':
      throw new Fault('Bug', 'no_dispatch', `Block "${block.id}" opens a child run: its machine calls open-child.`)
  }
}

async function dispatchAgent(
  call: BlockCall,
  block: Extract<Block, { mode: 'ai' }>,
  dispatch: Dispatch,
): Promise<Produced> {
  const { agent } = block
  const { values } = dispatch
  const base = agent.prompt === undefined ? generatedPrompt(block, values) : render(call, agent.prompt, values)
  const answers: DispatchAnswer[] = []
  let feedback = dispatch.feedback
  for (;;) {
    const prompt = withFeedback(base, feedback)
    const answer = await askAgent(call, agent, { ...dispatch, feedback, prompt, repair: answers.length })
    answers.push(answer)
    const read = readAnswer(answer.text, block.outputs)
    if (read.problems.length > 0 && block.strict_output && answers.length <= block.contract_repair_attempts) {
      feedback = [...dispatch.feedback, ...read.problems]
      continue
    }
    const hashes = { params_hash: sha256(canonicalJson(agent.model_params)), prompt_hash: sha256(prompt) }
    return { ...read, facts: { provider: agent.provider, ...hashes, ...measuredFacts(answer, answers) } }
  }
}

/** One call of the provider; `repair` counts those of this attempt before it. */
function askAgent(
  call: BlockCall,
  { provider: name, model, model_params, system }: Agent,
  {
    values,
    feedback,
    signal,
    attempt,
    prompt,
    repair,
  }: Dispatch & { readonly prompt: string; readonly repair: number },
): Promise<DispatchAnswer> {
  const provider = call.world.providers.get(name)
  if (provider === undefined) throw unknownProvider(call, name)
  return provider.dispatch({
    ...(system === undefined ? {} : { system: render(call, system, values) }),
    prompt,
    model,
    params: model_params,
    inputs: values,
    output_schema: call.block.outputs,
    feedback,
    signal,
    idempotency_key: `${call.run.run_id}/${call.lane_key}/${call.epoch}/${attempt}/${repair}`,
  })
}

/**
 * What adapters say of an attempt's calls, as an event may carry it: no negative counts, no endless words; one call
 * without a price makes the price of all unknown. A repair is paid for like the answer it mends.
 */
function measuredFacts({ model, finish_reason, note }: DispatchAnswer, answers: readonly DispatchAnswer[]) {
  const sum = (of: (answer: DispatchAnswer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
  const isPriced = answers.every(({ usd }) => usd !== undefined && usd >= 0)
  return {
    model: shortText(model, MOST_WORDS),
    tokens_in: wholeNumber(sum((answer) => wholeNumber(answer.tokens_in))),
    tokens_out: wholeNumber(sum((answer) => wholeNumber(answer.tokens_out))),
    ...(isPriced ? { usd_micros: wholeNumber(sum(({ usd = 0 }) => usd * 1_000_000)) } : {}),
    finish_reason: shortText(finish_reason, MOST_WORDS),
    ...(note === undefined ? {} : { note: shortText(note, MOST_WORDS) }),
  }
}

/** 0 for what is no amount: an adapter's NaN must not become null in an event. */
function wholeNumber(amount: number): number {
  return amount > 0 ? Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER) : 0
}

async function dispatchDecision(call: BlockCall, _dispatch: Dispatch): Promise<Produced> {
  const values = await decisionOutputs(call)
  return { ...checkOutputs(values, call.block.outputs), facts: unpriced('approval', 'person', '') }
}

function render({ block }: BlockCall, template: string, values: Dispatch['values']): string {
  const rendered = renderTemplate(template, values)
  if (rendered.ok) return rendered.text
  const message = `Cannot write the prompt of block "${block.id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}

function unknownProvider({ block, world }: BlockCall, name: string): Fault {
  const message = `Cannot dispatch block "${block.id}": provider "${name}" is not configured; configured are ${world.providers.names().join(', ')}. Add it under providers in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}
