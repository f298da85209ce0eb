import type { ActingItem } from '../../../shared/agents/agent-items.ts'
import { callsOf, conversationOf, isTainted, offersOf, type PastTurn } from '../../../shared/agents/transcript.ts'
import { TURN_PORT, type TurnRecord } from '../../../shared/agents/turn-record.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { generatedPrompt, withFeedback } from '../../../shared/prompts/block.ts'
import type { DispatchAnswer, Message } from '../../../shared/providers/provider.ts'
import type { RecordedCallWithPrompt } from '../../../shared/providers/recording.ts'
import { readAnswerOutputs } from '../../../shared/runs/block-outputs.ts'
import { blockOrdinal } from '../../../shared/runs/head.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { storeAnswers } from '../../provider-call.ts'
import { readProjections } from '../../record/projections.ts'
import { toldValues } from '../agent-files.ts'
import { askAgent, goalOf, measuredFacts, renderText } from '../ask-agent.ts'
import type { Dispatch, Produced } from '../attempt-outcome.ts'
import type { BlockCall } from '../block-call.ts'
import { attemptFeedback } from '../bounce.ts'
import { fallbackFacts, openCandidates } from '../fallback.ts'
import { begunItems } from '../inputs.ts'
import { readPast, readRounds } from './read-rounds.ts'
import { isFedTainted } from './taint.ts'

/** One turn: the model is shown everything so far, and its answer, with the calls it asks for, is the turn's record. */
export async function dispatchTurn(call: BlockCall, acting: ActingItem, dispatch: Dispatch): Promise<Produced> {
  const { whole, turn } = acting
  const { agent } = whole
  // Where nothing more fits nothing is paid for.
  await call.storage.requireRoom(1)
  const shown = await toldValues(call, dispatch.values)
  const seen = shown.values
  const base = agent.prompt === undefined ? generatedPrompt(whole, seen) : renderText(call, agent.prompt, seen)
  const bounced = await attemptFeedback(call, undefined)
  const { turns, ends } = await readPast(call, whole, await readRounds(call), turn)
  const told = await saidBefore(
    call,
    acting,
    turns,
    dispatch.feedback.filter((line) => !bounced.includes(line)),
  )
  const heard: readonly Message[] = told === undefined ? [] : [{ role: 'user', text: told }]
  const conversation = [...conversationOf(agent.acting, turns, ends), ...heard]
  const calls: RecordedCallWithPrompt[] = []
  const asked = { conversation, tools: offersOf(agent.acting), output_schema: whole.outputs }
  const candidates = openCandidates(agent)
  const goal = await goalOf(call)
  const question = { ...dispatch, feedback: bounced, base, told: shown, goal, repair: 0, calls, also: asked }
  const { answer, by, prompt } = await askAgent(call, agent, candidates, question)
  const hashes = { params_hash: sha256(canonicalJson(by.model_params)), prompt_hash: sha256(prompt) }
  const raw = await storeAnswers(call, calls)
  const said = { ...answer, ...fallbackFacts(candidates, answer.note) }
  const facts = { provider: by.provider, ...hashes, ...measuredFacts(said, [answer]), ...raw }
  const count = answer.calls?.length ?? 0
  if (count > LIMITS.agent_calls_per_turn) {
    const problem = `${count} calls at once; at most ${LIMITS.agent_calls_per_turn} are allowed. Call fewer and go on when they have ended`
    return { values: {}, problems: [problem], facts }
  }
  const record = recordOf(answer, {
    told,
    tainted: isTainted(agent.acting, turns, ends) || (await isFedTainted(call, whole)),
    called: callsOf(turns),
  })
  return { values: { [TURN_PORT]: record }, problems: [], facts }
}

function recordOf(
  { text, calls = [], finish_reason, opaque }: DispatchAnswer,
  { told, ...known }: Pick<TurnRecord, 'tainted' | 'called'> & { readonly told: string | undefined },
): TurnRecord {
  return {
    v: 1,
    ...(told === undefined ? {} : { told }),
    text,
    calls: calls.map(({ id, tool, arguments: args }) => ({ id, tool, arguments: args })),
    finish_reason,
    ...(opaque === undefined ? {} : { opaque }),
    ...known,
  }
}

/**
 * What the user's side says before this turn, after everything else: why the answer before it was refused, by the output
 * contract or by the gates of the attempt before, and what this turn's own earlier try was refused for.
 */
async function saidBefore(
  call: BlockCall,
  { whole, turn }: ActingItem,
  turns: readonly PastTurn[],
  own: readonly string[],
): Promise<string | undefined> {
  const last = turns.at(-1)
  const answered = last !== undefined && last.record.calls.length === 0
  const refused = answered ? await refusalOf(call, whole, turn, last) : []
  const lines = [...refused, ...own]
  const { transcript } = call.meta.retry_of ?? {}
  const isFork = transcript?.block === whole.id && transcript.turns === turn && call.epoch === 0
  const said = isFork ? transcript.say : undefined
  if (lines.length === 0) return said
  return withFeedback(said ?? 'Go on.', lines)
}

async function refusalOf(
  call: BlockCall,
  whole: ActingItem['whole'],
  turn: number,
  { record }: PastTurn,
): Promise<readonly string[]> {
  const begun = await begunItems({ ...call, block: whole, item: undefined })
  if (begun?.turn !== turn) return readAnswerOutputs(record.text, whole.outputs).problems
  const { world, run, head } = call
  const lane = blockOrdinal(call, head, whole.id)
  if (lane === undefined) return []
  const projection = (await readProjections(world, run, new Map([[whole.index, lane]]))).get(whole.index)
  return projection?.failure?.feedback ?? []
}
