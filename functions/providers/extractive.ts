import { Fault } from '../../shared/errors.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import { type AskingStage, runExtractiveModel } from '../../shared/research/extractive/model.ts'
import { refuseTools } from './model-answers.ts'

/** Stages of the research chain that ask a model; `inputs.stage` says which one does. */
const STAGES: readonly AskingStage[] = ['route_search', 'assess_sufficiency', 'synthesize_answer']

/**
 * Provider `extractive`: the offline default of the research chain. It answers from the data of the question (its
 * `inputs`), reads no prompt and obeys no text; same question, same answer. It is no language model and says so in every
 * answer's `note`. Fault InvalidInput provider_invalid for whatever is no question of a stage.
 */
export const extractiveProvider: Provider = {
  async dispatch(request) {
    request.signal.throwIfAborted()
    refuseTools(
      'extractive',
      request,
      'it answers the stages of the research chain, and is no model that could call any',
    )
    const { stage: named, ...question } = request.inputs
    const stage = STAGES.find((one) => one === named)
    if (stage === undefined) throw invalid(`it answers only the stages ${STAGES.join(', ')} of the research chain`)
    const made = runExtractiveModel(stage, question)
    if (!made.ok) throw invalid(made.errors[0]?.message ?? 'it cannot read the question')
    return answer(request, made.value)
  },
}

function answer({ prompt, system = '' }: DispatchRequest, text: string): DispatchAnswer {
  return {
    text,
    tokens_in: tokens(system + prompt),
    tokens_out: tokens(text),
    usd: 0,
    model: 'extractive',
    finish_reason: 'extractive',
    note: 'extractive quotes and counts terms, it is not a language model',
  }
}

/** Four characters a token, as a language model would be counted; nothing is billed by it. */
function tokens(text: string): number {
  return Math.ceil(text.length / 4)
}

function invalid(problem: string): Fault {
  const message = `Cannot answer with provider "extractive": ${problem}. Name another provider, such as "local".`
  return new Fault('InvalidInput', 'provider_invalid', message)
}
