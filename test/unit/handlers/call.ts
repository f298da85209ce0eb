import type { HandlerCall } from '../../../functions/attempts/handlers/block-handler.ts'
import type { PortType } from '../../../shared/dag/dag.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { ArtifactItem } from '../../../shared/runs/run-store-items.ts'

/** What a handler put into the world of one test. */
export interface Seen {
  readonly objects: Map<string, Uint8Array>
  readonly artifacts: ArtifactItem[]
}

type Given = Partial<Omit<HandlerCall, 'world' | 'outputs'>> & {
  readonly ports?: Readonly<Record<string, PortType>>
  readonly world?: Partial<HandlerCall['world']>
}

/** A call whose world keeps objects and artifacts in memory; ports it does not need are absent. */
export function handlerCall({ ports = {}, world = {}, ...given }: Given): { call: HandlerCall; seen: Seen } {
  const seen: Seen = { objects: new Map(), artifacts: [] }
  const objects: HandlerCall['world']['objects'] = {
    async put(tenant, body) {
      const sha256 = String(seen.objects.size + 1).padStart(64, '0')
      const ref = `objstore://${tenant}/${sha256}`
      seen.objects.set(ref, body)
      return { ref, sha256, bytes: body.byteLength }
    },
    async get(_tenant, ref) {
      const body = seen.objects.get(ref)
      if (body === undefined) throw new Error(`no object ${ref}`)
      return body
    },
    has: async (_tenant, ref) => seen.objects.has(ref),
    erase: async (_tenant, ref) => seen.objects.delete(ref) || true,
  }
  const runs = { putArtifact: async (_run: RunKey, item: ArtifactItem) => void seen.artifacts.push(item) }
  const outputs = Object.fromEntries(Object.entries(ports).map(([port, type]) => [port, { type, required: true }]))
  const call: HandlerCall = {
    inputs: {},
    values: given.inputs ?? {},
    outputs,
    config: {},
    // Only the members a handler uses: a call of any other one is a test failure.
    world: { objects, runs, ...world } as HandlerCall['world'],
    run: { tenant: 'main', run_id: 'run_1' },
    block_id: 'work',
    epoch: 0,
    attempt: 2,
    idempotency_key: 'run_1/0/0/2/0',
    feedback: [],
    task_gates: [],
    judge: async () => true,
    signal: new AbortController().signal,
    ...given,
  }
  return { call, seen }
}
