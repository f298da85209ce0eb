import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { Agent, Block } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import { generatedPrompt, withFeedback } from '../../shared/prompts/block-prompt.ts'
import type { DispatchAnswer } from '../../shared/provider.ts'
import type { RecordedCall } from '../../shared/recording.ts'
import { workingLeg } from '../../shared/runs/legs.ts'
import { readOrdinal } from '../../shared/runs/ordinal.ts'
import { checkOutputs, readAnswer } from '../../shared/runs/output-contract.ts'
import type { BlockCall } from './block-call.ts'
import { decisionOutputs } from './decision-outputs.ts'
import { dispatchHandler, unpriced } from './dispatch-handler.ts'
import { keepAnswers, recordingProvider } from './keep-answers.ts'
import { measuredFacts } from './measured-facts.ts'
import { meteredProvider } from './metered-provider.ts'
import type { Dispatch, Produced } from './produced.ts'

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
  const calls: RecordedCall[] = []
  let feedback = dispatch.feedback
  for (;;) {
    const prompt = withFeedback(base, feedback)
    const answer = await askAgent(call, agent, { ...dispatch, feedback, prompt, repair: answers.length, calls })
    answers.push(answer)
    const read = readAnswer(answer.text, block.outputs)
    if (read.problems.length > 0 && block.strict_output && answers.length <= block.contract_repair_attempts) {
      feedback = [...dispatch.feedback, ...read.problems]
      continue
    }
    const hashes = { params_hash: sha256(canonicalJson(agent.model_params)), prompt_hash: sha256(prompt) }
    const raw = await keepAnswers(call, calls)
    return { ...read, facts: { provider: agent.provider, ...hashes, ...measuredFacts(answer, answers), ...raw } }
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
    calls,
  }: Dispatch & { readonly prompt: string; readonly repair: number; readonly calls: RecordedCall[] },
): Promise<DispatchAnswer> {
  const provider = recordingProvider(name, meteredProvider(call, name), calls)
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
    idempotency_key: `${call.run.run_id}/${call.lane_key}/${call.epoch}/${attempt}${legOf(call, attempt)}/${repair}`,
  })
}

/** After a question in the middle of the attempt its calls are others: with keys of their own. */
function legOf({ lane }: BlockCall, attempt: number): string {
  const leg = lane !== undefined && readOrdinal(lane).attempt === attempt ? workingLeg(lane) : 0
  return leg === 0 ? '' : `.${leg}`
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
