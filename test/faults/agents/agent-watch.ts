import type { ActingBlock } from '../../../shared/agents/agent-items.ts'
import type { ToolPin, ToolUse } from '../../../shared/dag/dag.ts'
import type { DispatchRequest, Message, ToolOffer } from '../../../shared/providers/provider.ts'
import type { HeadApproval } from '../../../shared/runs/head.ts'
import { callItem } from '../../../shared/runs/turns-and-calls.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import type { McpCall } from '../../../shared/tools/mcp-port.ts'
import type { System } from '../system.ts'
import { agentAt, type ItemPlace, placeOfKey, yesesAbout } from './call-places.ts'
import { REFUSED_MARK, SERVER } from './simulated-server.ts'

/** Watches from outside what agents do: what models are shown, and what is really done. */
export interface AgentWatch {
  /** A model is asked for a turn. */
  asked(request: DispatchRequest): Promise<void>
  /** A server does what it was called for, as a tool it now tells of. */
  made(call: McpCall, now: Pick<ToolPin, 'description' | 'input_schema'>): Promise<void>
}

type Place = Pick<System, 'sim' | 'raw' | 'objects' | 'runs' | 'heads'>

/** 47, 48, 49 and 52, as far as only the world outside knows. */
export function watchAgents(place: Place): AgentWatch {
  const { sim } = place
  const times = new Map<string, number>()
  const offered = new Map<string, readonly ToolOffer[]>()
  return {
    async asked({ idempotency_key: key, tools = [], conversation = [] }) {
      const at = placeOfKey(key)
      if (at === undefined) return
      const before = offered.get(agentName(at)) ?? tools
      offered.set(agentName(at), before)
      if (canonicalJson(before.map(toldOf)) !== canonicalJson(tools.map(toldOf)))
        sim.violate(52, `${key}: a model is offered other tools than in the turn before`)
      for (const id of shownThoughRefused(conversation)) {
        if (!(await mayBeShown(place, at, id))) sim.violate(48, `${key}: a model is shown what a gate refused (${id})`)
      }
    },
    async made({ tool, args, key }, now) {
      const at = placeOfKey(key)
      if (at === undefined) return sim.violate(47, `a tool was called with the key ${key}, which is of no call`)
      const use = toolOf(await agentAt(place, at), tool)
      if (use === undefined) return
      const count = (times.get(key) ?? 0) + 1
      times.set(key, count)
      const yeses = yesesAbout(place, at).map(({ about }) => about)
      const told = offered.get(agentName(at))?.find(({ name }) => name === use.name)
      for (const [n, problem] of [
        ...repeatProblems(use, count, yeses),
        ...changeProblems(told, now),
        ...gateProblems(use, args, yeses),
      ])
        sim.violate(n, `${key}: ${tool} ${problem}`)
    },
  }
}

function agentName({ run_id, block }: ItemPlace): string {
  return `${run_id} ${block}`
}

type Yeses = readonly HeadApproval['about'][]
type Problem = readonly [invariant: number, words: string]

function repeatProblems({ effect, idempotent }: ToolUse, count: number, yeses: Yeses): readonly Problem[] {
  const repeats = yeses.filter((about) => about === 'lost_step').length
  if (effect === 'read' || idempotent || count <= 1 + repeats) return []
  return [[47, `is called ${count} times, people let it be repeated ${repeats} times`]]
}

type Told = Pick<ToolOffer, 'description' | 'input_schema'>

function toldOf({ description, input_schema }: Told): Json {
  return { description, input_schema }
}

function changeProblems(told: Told | undefined, now: Told): readonly Problem[] {
  if (told === undefined || canonicalJson(toldOf(told)) === canonicalJson(toldOf(now))) return []
  return [[52, 'is called, which is another one than the model was told of']]
}

function gateProblems({ gates }: ToolUse, args: McpCall['args'], yeses: Yeses): readonly Problem[] {
  // A yes to the question about the call waives what asks, and nothing else.
  const isWaivable = yeses.includes('pre_gates') || yeses.includes('call')
  const isRefused = gates.some(({ after, check, on_fail }) => {
    if (after || (on_fail === 'ask' && isWaivable)) return false
    return check.type === 'max_value' && Number(args.amount) > Number(check.max)
  })
  if (!isRefused) return []
  return [[49, `is called with ${canonicalJson(args)}, which a gate before it refuses`]]
}

/** No gate is behind the tool, or a person waived it. */
async function mayBeShown(place: Place, at: ItemPlace, id: string): Promise<boolean> {
  const find = toolOf(await agentAt(place, at), 'find')
  return find?.gates.some(({ after }) => after) !== true || isWaived(place, at, id)
}

function toolOf(whole: ActingBlock | undefined, tool: string): ToolUse | undefined {
  return whole?.agent.acting.tools.find(({ use }) => use === `${SERVER}.${tool}`)
}

/** Ids of calls whose result has the mark, as an error too: a gate's words do not repeat what it refused. */
function shownThoughRefused(conversation: readonly Message[]): readonly string[] {
  return conversation.flatMap((one) => (one.role === 'tool' && one.text.includes(REFUSED_MARK) ? [one.id] : []))
}

/** A person waived the gate, in this run or in the one whose turns were kept. */
function isWaived(place: Place, at: ItemPlace, id: string): boolean {
  const [, turn, n] = id.split('_').map(Number)
  const item = callItem(turn ?? 0, (n ?? 0) + 1)
  return [...place.heads.keys()].some((run_id) =>
    [0, 1, 2, 3].some((epoch) =>
      yesesAbout(place, { ...at, run_id, item, epoch }).some(({ about }) => about === 'post_gates'),
    ),
  )
}
