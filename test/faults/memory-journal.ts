import type { ExecutionEnd, FramePosition, Journal, JournalledExecution } from '../../infra/local/asl/journal.ts'
import type { TokenAnswer } from '../../shared/runs/machine.ts'

interface Kept {
  readonly execution: JournalledExecution
  readonly places: Map<string, FramePosition>
  end?: ExecutionEnd
}

interface Token {
  readonly execution: number
  readonly path: string
  answer?: TokenAnswer
}

/** The interpreter's journal in memory: what is written is kept at once, as Step Functions does it. */
export function createMemoryJournal(): Journal {
  const definitions = new Map<string, string>()
  const uses = new Map<string, number>()
  const executions: Kept[] = []
  const names = new Map<string, Kept>()
  const tokens = new Map<string, Token>()
  const forget = (execution: number, path: string): void => {
    for (const [token, one] of tokens) {
      if (one.execution === execution && one.path.startsWith(path)) tokens.delete(token)
    }
  }
  return {
    define: (hash, definition) => void definitions.set(hash, definition),
    definition: (hash) => definitions.get(hash),
    use: (hash, at) => void uses.set(hash, at),
    uses: () => [...definitions.keys()].map((hash) => ({ hash, used_at: uses.get(hash) ?? 0 })),
    undefine: (hash) => void definitions.delete(hash),
    create(draft) {
      const execution = { ...draft, id: executions.length + 1 }
      const kept: Kept = { execution, places: new Map() }
      executions.push(kept)
      names.set(`${draft.machine}\n${draft.name}`, kept)
      return execution
    },
    find(machine, name) {
      const kept = names.get(`${machine}\n${name}`)
      return kept && { id: kept.execution.id, input: kept.execution.input, ...(kept.end && { end: kept.end }) }
    },
    unfinished: () => executions.filter(({ end }) => end === undefined).map(({ execution }) => execution),
    places: (id) => new Map(executions[id - 1]?.places),
    tokens: (id) =>
      new Map([...tokens].filter(([, one]) => one.execution === id).map(([token, { answer }]) => [token, answer])),
    token: (token) => tokens.get(token),
    put(slot, place) {
      slot.place = place
      executions[slot.execution.id - 1]?.places.set(slot.path, place)
    },
    clear(id, path) {
      const places = executions[id - 1]?.places
      for (const one of places?.keys() ?? []) if (one.startsWith(`${path}/`)) places?.delete(one)
      forget(id, `${path}/`)
    },
    openToken: (token, { execution, path }) => void tokens.set(token, { execution: execution.id, path }),
    answerToken(token, answer) {
      const one = tokens.get(token)
      if (one !== undefined) one.answer ??= answer
    },
    closeToken: (token) => void tokens.delete(token),
    end(id, end) {
      const kept = executions[id - 1]
      if (kept === undefined) return
      kept.end ??= end
      kept.places.clear()
      forget(id, '')
    },
    committed: async () => undefined,
    durable: async () => undefined,
  }
}
