import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { told } from '../../shared/gates/file-texts.ts'
import type { KeptCall } from '../../shared/kept-call.ts'
import { generatedPrompt, withFeedback } from '../../shared/prompts/block-prompt.ts'
import type { DispatchAnswer } from '../../shared/provider.ts'
import { checkOutputs, readAnswer } from '../../shared/runs/output-contract.ts'
import { isOverQuota } from '../storage.ts'
import { objectReader, storeAnswerFiles } from './agent-files.ts'
import { askAgent } from './ask-agent.ts'
import type { BlockCall } from './block-call.ts'
import { decisionOutputs } from './decision-outputs.ts'
import { dispatchHandler, unpriced } from './dispatch-handler.ts'
import { keepAnswers } from './keep-answers.ts'
import { measuredFacts } from './measured-facts.ts'
import type { Dispatch, Produced } from './produced.ts'
import { renderText } from './render-text.ts'

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
    case 'research':
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
  // Where nothing more fits nothing is paid for.
  await call.storage.requireRoom(1)
  const seen = await told(block.inputs, values, objectReader(call))
  const base = agent.prompt === undefined ? generatedPrompt(block, seen) : renderText(call, agent.prompt, seen)
  const answers: DispatchAnswer[] = []
  const calls: KeptCall[] = []
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
    // Paid for: it is kept whatever the run may still store.
    const raw = await keepAnswers(call, calls)
    const facts = { provider: agent.provider, ...hashes, ...measuredFacts(answer, answers), ...raw }
    return { ...read, ...(await withFiles(call, dispatch, read.values)), facts }
  }
}

async function withFiles(
  call: BlockCall,
  dispatch: Dispatch,
  values: Produced['values'],
): Promise<Pick<Produced, 'values' | 'refusal'>> {
  try {
    return { values: await storeAnswerFiles(call, call.block.outputs, values, dispatch) }
  } catch (error) {
    if (!isOverQuota(error)) throw error
    return { values: {}, refusal: error }
  }
}

async function dispatchDecision(call: BlockCall, _dispatch: Dispatch): Promise<Produced> {
  const values = await decisionOutputs(call)
  return { ...checkOutputs(values, call.block.outputs), facts: unpriced('approval', 'person', '') }
}
