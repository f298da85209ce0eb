import { type ActingBlock, isActing } from '../../../shared/agents/agent-items.ts'
import type { TurnRecord } from '../../../shared/agents/turn-record.ts'
import { eventPosition } from '../../../shared/runs/run-fold.ts'
import type { Append, AttemptWork } from '../../../shared/runs/run-store.ts'
import { readAgentItem } from '../../../shared/runs/turns-and-calls.ts'
import { asksForJson } from '../../../shared/telemetry/call-span.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { allEvents } from '../../record/run-log.ts'
import type { BlockCall } from '../block-call.ts'

type Working = Pick<BlockCall, 'world' | 'run' | 'meta' | 'block' | 'item' | 'epoch' | 'acting'>

/** What an attempt came to. */
export interface Came {
  readonly values?: Readonly<Record<string, Json>> | undefined
  /** Why it did not complete: what the model is told instead. */
  readonly reason?: string | undefined
  /** Of an agent that has ended by its turns. */
  readonly answered?: Answered
}

type Answered = NonNullable<Extract<AttemptWork, { operation: 'invoke_agent' }>['answered']>

/** For the append that ends an attempt: what it was, where it was an agent that calls tools or a call of one. For telemetry alone. */
export function workOf(call: Working, came: Came = {}): Pick<Append, 'work'> {
  const { world, block, item, acting } = call
  if (world.telemetry === undefined) return {}
  if (acting?.call !== undefined) {
    const { tool, asked, args } = acting.call
    const result = came.reason ?? (came.values === undefined ? undefined : wordsOf(came.values))
    const content = { arguments: canonicalJson(args), ...(result === undefined ? {} : { result }) }
    const told = { name: tool.name, description: tool.pin?.description ?? '' }
    return { work: { operation: 'execute_tool', tool: told, call_id: asked.id, use: tool.use, content } }
  }
  if (item !== undefined || !isActing(block)) return {}
  return { work: agentWork(call, block, came.answered) }
}

function agentWork({ run, meta, epoch }: Working, block: ActingBlock, answered: Answered | undefined): AttemptWork {
  const { id, hash, agent } = block
  return {
    operation: 'invoke_agent',
    agent: { id: `${meta.dag_name}/${id}`, name: id, version: hash.slice(0, 12) },
    provider: agent.provider,
    model: agent.model,
    // A pass of its own is a conversation of its own.
    conversation_id: `${run.run_id}/${id}/${epoch}`,
    ...(asksForJson(block.outputs) ? { output: 'json' as const } : {}),
    ...(answered === undefined ? {} : { answered }),
  }
}

/** What the turns of this attempt of the block used together; undefined: nobody looks. */
export async function answeredByTurns(
  { world, run, block, epoch }: BlockCall,
  first: number,
  record: TurnRecord | undefined,
): Promise<Pick<Came, 'answered'>> {
  if (world.telemetry === undefined) return {}
  const turns = (await allEvents(world, run)).flatMap((event) => {
    if (event.type !== 'block:output' || event.block_id !== block.id || event.item === undefined) return []
    const { turn, call } = readAgentItem(event.item)
    return call === undefined && turn >= first && eventPosition(event).epoch === epoch ? [event.data] : []
  })
  const sum = (of: (data: (typeof turns)[number]) => number) => turns.reduce((all, data) => all + of(data), 0)
  const isPriced = turns.every(({ usd_micros }) => usd_micros !== undefined)
  const answered = {
    turns: turns.length,
    finish_reason: record?.finish_reason ?? 'none',
    tokens_in: sum(({ tokens_in }) => tokens_in),
    tokens_out: sum(({ tokens_out }) => tokens_out),
    ...(isPriced ? { usd: sum(({ usd_micros = 0 }) => usd_micros) / 1_000_000 } : {}),
  }
  return { answered }
}

/** A text alone as it is; else all of it as JSON. */
export function wordsOf(values: Readonly<Record<string, Json>>): string {
  const entries = Object.entries(values)
  const [only] = entries
  return entries.length === 1 && typeof only?.[1] === 'string' ? only[1] : canonicalJson(values)
}
