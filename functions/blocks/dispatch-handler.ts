import { canonicalJson, sha256 } from '../../shared/canonical.ts'
import type { Block } from '../../shared/dag/dag.ts'
import type { Verdict } from '../../shared/gates/gate.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { checkOutputs } from '../../shared/runs/output-contract.ts'
import type { BlockCall } from './block-call.ts'
import { gatePorts } from './gate-ports.ts'
import type { HandlerCall } from './handlers/handler.ts'
import { handlerOf } from './handlers/registry.ts'
import type { Dispatch, Produced } from './produced.ts'

/** The work of a deterministic block, once: its handler's values against the contract. */
export async function dispatchHandler(
  call: BlockCall,
  { handler, config, outputs, id }: Extract<Block, { mode: 'deterministic' }>,
  { attempt, values, feedback, signal }: Dispatch,
): Promise<Produced> {
  const { storage, run, block, item, dag, epoch } = call
  const judged: { verdicts?: readonly Verdict[] } = {}
  const made = await handlerOf(handler).run({
    inputs: values,
    outputs,
    config,
    world: storage.bounded,
    run,
    block_id: id,
    epoch,
    attempt,
    feedback,
    task_gates: dag.task_gates ?? [],
    async judge(gates, facts) {
      judged.verdicts = await judgeAll(call, signal, gates, facts)
      return judged.verdicts.every(({ passed }) => passed)
    },
    ...(item === undefined ? {} : { item }),
    signal,
  })
  const { values: given, problems } = checkOutputs(made, block.outputs)
  const told = problems.map((problem) =>
    problem.startsWith('missing port ') ? `${problem}: ${whyMissing(handler)}` : problem,
  )
  return { values: given, problems: told, ...judged, facts: unpriced('deterministic', handler, canonicalJson(config)) }
}

/** What is recorded of work nobody charges for. */
export function unpriced(provider: string, model: string, params: string): Produced['facts'] {
  const hash = sha256(params)
  const none = { tokens_in: 0, tokens_out: 0, usd_micros: 0 }
  return { provider, model, params_hash: hash, prompt_hash: hash, ...none, finish_reason: 'stop' }
}

async function judgeAll(
  call: BlockCall,
  signal: AbortSignal,
  gates: Parameters<HandlerCall['judge']>[0],
  facts: Parameters<HandlerCall['judge']>[1],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  const ports = gatePorts(call, signal)
  for (const gate of gates) {
    verdicts.push(await judgeGate(gate, facts, ports, () => call.world.clock.now()))
    if (call.meter.refusal !== undefined) throw call.meter.refusal
  }
  return verdicts
}

/** JSONata answers nothing, not an error, where a path leads nowhere. */
function whyMissing(handler: string): string {
  return handler === 'transform'
    ? 'its expression gave nothing for it; do its paths exist?'
    : `${handler} gave nothing for it`
}
