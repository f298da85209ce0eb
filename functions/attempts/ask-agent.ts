import { type Agent, type Block, type Fallback, judgingBlocks } from '../../shared/dag/dag.ts'
import { renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import type { Speech } from '../../shared/ports/live.ts'
import { generatedPrompt, withFeedback, withFiles } from '../../shared/prompts/block.ts'
import { goalSection } from '../../shared/prompts/goal.ts'
import { callsModel } from '../../shared/providers/model-prices.ts'
import type { DispatchAnswer, DispatchRequest, Provider } from '../../shared/providers/provider.ts'
import type { RecordedCallWithPrompt } from '../../shared/providers/recording.ts'
import { inputsNamedIn, ownValues } from '../../shared/runs/block-inputs.ts'
import { readAnswerOutputs } from '../../shared/runs/block-outputs.ts'
import { laneKey } from '../../shared/runs/lane.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import { shortRedacted } from '../../shared/text/short-text.ts'
import { recordingProvider, storeAnswers, toMicros, toTokenCount } from '../provider-call.ts'
import { leasedProvider } from '../provider-lease.ts'
import { frozenContract } from '../record/freeze-goal.ts'
import { isOverQuota } from '../record/storage-quota.ts'
import { refuseTooMuch, storeAnswerFiles, type ToldValues, toldValues } from './agent-files.ts'
import type { Dispatch, Produced } from './attempt-outcome.ts'
import { type BlockCall, callKey, laneOwnerOf } from './block-call.ts'
import { askFirstThere, type Candidates, fallbackFacts, openCandidates } from './fallback.ts'
import { meteredProvider } from './metered-provider.ts'

/** Asks the block's model, again where its answer keeps no contract, and makes values of what it said. */
export async function dispatchAgent(
  call: BlockCall,
  block: Extract<Block, { mode: 'ai' }>,
  dispatch: Dispatch,
): Promise<Produced> {
  const { agent } = block
  const { values } = dispatch
  // Where nothing more fits nothing is paid for.
  await call.storage.requireRoom(1)
  const told = await toldValues(call, values)
  const seen = told.values
  const base = agent.prompt === undefined ? generatedPrompt(block, seen) : renderText(call, agent.prompt, seen)
  const goal = await goalOf(call)
  const answers: DispatchAnswer[] = []
  const calls: RecordedCallWithPrompt[] = []
  const candidates = openCandidates(agent)
  let feedback = dispatch.feedback
  for (;;) {
    const asked = { ...dispatch, feedback, base, told, goal, repair: answers.length, calls }
    const { answer, by, prompt } = await askAgent(call, agent, candidates, asked)
    answers.push(answer)
    const read = readAnswerOutputs(answer.text, block.outputs)
    if (read.problems.length > 0 && block.strict_output && answers.length <= block.contract_repair_attempts) {
      feedback = [...dispatch.feedback, ...read.problems]
      continue
    }
    const hashes = { params_hash: sha256(canonicalJson(by.model_params)), prompt_hash: sha256(prompt) }
    // Paid for: it is kept whatever the run may still store.
    const raw = await storeAnswers(call, calls)
    const said = fallbackFacts(candidates, answer.note)
    const facts = { provider: by.provider, ...hashes, ...measuredFacts({ ...answer, ...said }, answers), ...raw }
    return { ...read, ...(await storeAnswersInFiles(call, dispatch, read.values)), facts }
  }
}

export async function storeAnswersInFiles(
  call: BlockCall,
  dispatch: Omit<Dispatch, 'lease'>,
  values: Produced['values'],
): Promise<Pick<Produced, 'values' | 'refusal'>> {
  try {
    return { values: await storeAnswerFiles(call, call.block.outputs, values, dispatch) }
  } catch (error) {
    if (!isOverQuota(error)) throw error
    return { values: {}, refusal: error }
  }
}

interface Question extends Dispatch {
  readonly base: string
  readonly told: ToldValues
  /** What a model is told of the goal of the run; '' where it has none. */
  readonly goal: string
  /** Questions of this attempt before it. */
  readonly repair: number
  readonly calls: RecordedCallWithPrompt[]
  /** Of an agent that acts: what was said so far, and its tools. */
  readonly also?: Partial<DispatchRequest>
}

interface Answered {
  readonly answer: DispatchAnswer
  readonly by: Fallback
  readonly prompt: string
}

/** One question: to the agent's provider, or to the first after it that is there. */
export async function askAgent(
  call: BlockCall,
  { system }: Agent,
  candidates: Candidates,
  { values, told, feedback, signal, attempt, base, goal, repair, calls, lease, also }: Question,
): Promise<Answered> {
  const text = system === undefined ? {} : { system: renderText(call, system, told.values) }
  const request = { ...text, output_schema: call.block.outputs, feedback, signal, ...also }
  return askFirstThere(call, candidates, signal, async (by, place) => {
    // Whoever waits for a place at one provider holds none at another.
    if (place > 0) await lease.end()
    const provider = recordingProvider(by.provider, providerOf(call, by.provider, place), calls)
    if (provider === undefined) throw unknownProvider(call, by.provider)
    const key = callKey(call, attempt, repair)
    const { prompt, ...work } = workFor(call, by, { values, told, base, goal })
    const speech = speechOf(call, attempt, repair * QUESTIONS + place)
    try {
      const answer = await provider.dispatch({
        ...request,
        ...work,
        prompt: withFeedback(prompt, feedback),
        model: by.model,
        params: by.model_params,
        idempotency_key: place === 0 ? key : `${key}.${place}`,
        ...(speech === undefined ? {} : { on_text: speech.add }),
      })
      return { answer, by, prompt: withFeedback(prompt, feedback) }
    } finally {
      await speech?.end()
    }
  })
}

/** More than there are candidates. */
const QUESTIONS = 10

/** Where what the model says is heard while it says it. */
function speechOf(call: BlockCall, attempt: number, question: number): Speech | undefined {
  const { world, run, block, item, epoch } = call
  const lane = laneKey(laneOwnerOf(call))
  const speaker = { lane, block_id: block.id, ...(item === undefined ? {} : { item }), epoch, attempt, question }
  const { live } = world
  return live === undefined ? undefined : live.speak(run, speaker)
}

/**
 * A model is told the goal and shown files, and no ref. Tools without a model work on the inputs as they are, refs too,
 * and take nothing of a prompt for an order.
 */
function workFor(
  call: BlockCall,
  { provider }: Fallback,
  { values, told, base, goal }: Pick<Question, 'values' | 'told' | 'base' | 'goal'>,
): Pick<DispatchRequest, 'prompt' | 'files' | 'inputs'> {
  if (!callsModel(call.world.settings.providers, provider)) return { prompt: base, inputs: agentInputs(call, values) }
  const { files } = told
  refuseTooMuch(call, files)
  const shown = withFiles(base, files)
  const prompt = goal === '' ? shown : `${shown}\n\n${goal}`
  return { prompt, inputs: agentInputs(call, told.values), ...(files.length === 0 ? {} : { files }) }
}

/** Of the contract the run was started with. */
export async function goalOf({ world, meta, block }: BlockCall): Promise<string> {
  const { goal } = meta
  const contract = await frozenContract(world, meta)
  if (goal === undefined || contract === undefined) return ''
  return goalSection(contract, judgingBlocks(goal.completion).has(block.id))
}

/** The attempt was claimed with a place at the agent's own provider only. */
function providerOf(call: BlockCall, name: string, place: number): Provider | undefined {
  const provider = meteredProvider(call, name)
  return place === 0 ? provider : leasedProvider(call, name, provider)
}

/** What the provider is given beside the prompt: inputs of the block, and the run inputs that texts of its agent read. */
function agentInputs({ dag, block }: BlockCall, values: Dispatch['values']): Dispatch['values'] {
  const read = block.mode === 'ai' ? inputsNamedIn(block.agent) : new Set<string>()
  const own = ownValues(dag, block, values)
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(own, name) || read.has(name)))
}

function unknownProvider({ block, world }: BlockCall, name: string): Fault {
  const message = `Cannot dispatch block "${block.id}": provider "${name}" is not configured; configured are ${world.providers.names().join(', ')}. Add it under providers in sluice.yaml.`
  return new Fault('InvalidInput', 'unknown_provider', message)
}

/** A text of the block's agent with its values in place; Fault InvalidInput missing_input. */
export function renderText({ block }: BlockCall, template: string, values: Dispatch['values']): string {
  const rendered = renderTemplate(template, values)
  if (rendered.ok) return rendered.text
  const message = `Cannot write the prompt of block "${block.id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}

/** Characters of a model's name, a finish reason or a note in block:output. */
const MOST_WORDS = 300

/**
 * What adapters say of an attempt's calls, as an event may carry it: no negative counts, no endless words; one call
 * without a price makes the price of all unknown. A repair is paid for like the answer it mends.
 */
export function measuredFacts(
  { model, finish_reason, note, passed_over }: DispatchAnswer & Pick<Produced['facts'], 'passed_over'>,
  answers: readonly DispatchAnswer[],
) {
  const sum = (of: (answer: DispatchAnswer) => number) => answers.reduce((total, answer) => total + of(answer), 0)
  const isPriced = answers.every(({ usd }) => usd !== undefined && usd >= 0)
  return {
    model: shortRedacted(model, MOST_WORDS),
    tokens_in: sum((answer) => toTokenCount(answer.tokens_in)),
    tokens_out: sum((answer) => toTokenCount(answer.tokens_out)),
    ...(isPriced ? { usd_micros: toMicros(sum(({ usd = 0 }) => usd)) } : {}),
    finish_reason: shortRedacted(finish_reason, MOST_WORDS),
    ...(note === undefined ? {} : { note: shortRedacted(note, MOST_WORDS) }),
    ...(passed_over === undefined ? {} : { passed_over }),
  }
}
