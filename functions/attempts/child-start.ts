import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { placeholderValue, renderTemplate } from '../../shared/dag/template.ts'
import { Fault } from '../../shared/errors.ts'
import { childOutputSources } from '../../shared/runs/block-outputs.ts'
import { childDocumentOf, type Meta } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { childDocument, childDocuments, childSource } from '../runs/child-documents.ts'
import type { RunOrder } from '../runs/create-run.ts'
import { readDocument } from '../runs/documents.ts'
import { prepareStartValues } from '../runs/start-values.ts'
import { type BlockCall, type BlockInputs, childRunKey, wasClaimedWithChild } from './block-call.ts'
import { childCaps } from './budget.ts'
import { earlierChildRun } from './reuse.ts'

/** A child run but for the token that waits for it. */
export type ChildOrder = Omit<RunOrder, 'parent'>
type ChildBlock = Extract<Block, { mode: 'dag' }>

/** What an attempt of a `mode: dag` block starts; its faults fail the block. */
export async function prepareChildRun(
  call: BlockCall,
  block: ChildBlock,
  attempt: number,
  { values, decisions = [] }: Pick<BlockInputs, 'values' | 'decisions'>,
): Promise<ChildOrder> {
  const { world, meta } = call
  await refuseTooDeepChild(world, meta, `DAG "${block.dag.name}" for block "${block.id}"`)
  const { dag, dag_hash } = await readDocument(world, meta.tenant, await childSource(world, block.dag.name))
  const isBound = decisions.length > 0 || meta.parent?.binding_ref !== undefined
  if (isBound && !wasClaimedWithChild(call, attempt)) await requireSame(call, block)
  refuseOutputs(block, dag)
  const inputs = childInputs(block, values)
  const { text, parts } = compileDag(dag)
  return {
    ...childRunBase(call, attempt, world.settings.safety.max_run_sec),
    dag,
    dag_hash,
    machine: await world.machine.deployed(text, dag_hash, parts),
    ...(await prepareStartValues(world, meta.tenant, dag, { inputs }, {}, 'parent')),
    ...(await childDocuments(world, meta.tenant, dag)),
    overrides: {},
    body_hash: sha256(canonicalJson({ name: block.dag.name, inputs })),
    caps: await childCaps(call, dag),
    ...(await earlierChildRun(call)),
  }
}

/** Fault Rejected approval_stale: what the decision before it let happen is another document now. */
async function requireSame({ world, meta }: BlockCall, block: ChildBlock): Promise<void> {
  const { name } = block.dag
  if (meta.children === undefined) return
  const now = await childDocument(world, meta.tenant, name)
  if (now?.hash === childDocumentOf(block, meta.children)?.hash) return
  const message = `Cannot start DAG "${name}" for block "${block.id}": the document, or one below it, has changed since this run was started, and what people decided is about the one of then. Retry the run, and people are asked again.`
  throw new Fault('Rejected', 'approval_stale', message)
}

/** What every child run has of the attempt it is opened for; `most_sec` besides what is left to its parent. */
export function childRunBase(
  call: BlockCall,
  attempt: number,
  most_sec: number,
): Pick<RunOrder, 'run' | 'options' | 'starter' | 'starter_person'> {
  const { world, meta, head } = call
  const left = Math.ceil((Date.parse(head.deadline_at) - world.clock.now()) / 1_000)
  const deadline_sec = Math.max(1, Math.min(left, most_sec))
  const { starter, starter_person } = meta
  return { run: childRunKey(call, attempt), options: { ...meta.options, deadline_sec }, starter, starter_person }
}

/** Templates over the block's inputs; a text that is one placeholder is the value itself, and left out if it has none. */
function childInputs(
  { id, dag, inputs }: Extract<Block, { mode: 'dag' }>,
  values: Readonly<Record<string, Json>>,
): Record<string, Json> {
  const given: Record<string, Json> = {}
  if (Object.keys(dag.inputs).length === 0) {
    for (const port of Object.keys(inputs)) if (values[port] !== undefined) given[port] = values[port]
    return given
  }
  for (const [name, template] of Object.entries(dag.inputs)) {
    const value = typeof template === 'string' ? textValue(id, name, template, values) : template
    if (value !== undefined) given[name] = value
  }
  return given
}

const ONE_PLACEHOLDER = /^\s*\{\{[^{}]*\}\}\s*$/

function textValue(id: string, name: string, text: string, values: Readonly<Record<string, Json>>): Json | undefined {
  const whole = placeholderValue(text, values)
  if (whole !== undefined) return whole
  const rendered = renderTemplate(text, values)
  if (rendered.ok) return rendered.text
  if (ONE_PLACEHOLDER.test(text)) return undefined
  const message = `Cannot write input "${name}" of the child of block "${id}": ${rendered.missing.join(', ')} has no value. Give it as a run input, a default, or wire it with "from".`
  throw new Fault('InvalidInput', 'missing_input', message)
}

/** Said before anything is spent: an output this block promises that the child cannot give. */
function refuseOutputs(block: Extract<Block, { mode: 'dag' }>, dag: Dag): void {
  const missing = childOutputSources(block, dag).filter(({ sources, required, named }) => {
    return sources.length === 0 && (required || named !== undefined)
  })
  const [first] = missing
  if (first === undefined) return
  const { port, named } = first
  const seen = named === undefined ? `no last block with an output "${port}"` : `no output "${named}"`
  const fix = `Name one under dag.outputs of block "${block.id}": ${port}: BLOCK.OUTPUT.`
  const message = `Cannot start DAG "${block.dag.name}": output "${block.id}.${port}" comes from it, but it has ${seen}. ${fix}`
  throw new Fault('InvalidInput', 'unknown_child_output', message)
}

/** Runs a run may have above it: recursion ends here. */
const MAX_DEPTH = 5

/** LimitExceeded child_too_deep, before a child of this run is opened. `what` for people. */
export async function refuseTooDeepChild({ runs }: Pick<World, 'runs'>, meta: Meta, what: string): Promise<void> {
  let above: Meta | undefined = meta
  for (let depth = 1; above !== undefined; depth += 1) {
    if (depth > MAX_DEPTH) {
      const message = `Cannot start ${what}: this run has ${MAX_DEPTH} parents above it already, and no more are allowed. Does a DAG start itself? Give its block a "when" that ends it.`
      throw new Fault('LimitExceeded', 'child_too_deep', message)
    }
    const { tenant, parent }: Meta = above
    above = parent === undefined ? undefined : await runs.meta({ tenant, run_id: parent.run_id })
  }
}
