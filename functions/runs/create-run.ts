import type { Dag } from '../../shared/dag/dag.ts'
import { scriptRef, versionsOfDag } from '../../shared/gates/project-gates.ts'
import { type Caps, runCaps, smallestCaps } from '../../shared/runs/caps.ts'
import type { EventData } from '../../shared/runs/event.ts'
import { earlierTime, OUTBOX_GRACE_MS } from '../../shared/runs/head.ts'
import type { Labels } from '../../shared/runs/labels.ts'
import type { Meta, NewRun, ParentLink, RunKey } from '../../shared/runs/run-store.ts'
import { wordsOf } from '../../shared/runs/words.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import { endpointEntries, toldEndpoints } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { World } from '../../shared/world.ts'
import { openCountedStorage } from '../record/storage-quota.ts'

type CreateWorld = Pick<World, 'runs' | 'objects' | 'clock' | 'settings'>

const bodies = new WeakMap<Dag, Uint8Array>()

/** A document as it is stored; made once for all runs of one that is kept. */
function documentBody(dag: Dag): Uint8Array {
  const body = bodies.get(dag) ?? Buffer.from(canonicalJson(dag))
  bodies.set(dag, body)
  return body
}

/** A checked document and what its run starts with: both doors, the start route and a parent's block, come to this. */
export interface RunOrder {
  readonly run: RunKey
  readonly dag: Dag
  readonly dag_hash: string
  /** Scripts of its gates by their hash. Those of a run it goes on from are in the object store. */
  readonly scripts?: ReadonlyMap<string, string>
  /** What its execution is started on. */
  readonly machine: string
  readonly context: Readonly<Record<string, Json>>
  readonly overrides: Meta['overrides']
  readonly edited?: NonNullable<Meta['edited']>
  readonly children?: NonNullable<Meta['children']>
  readonly given?: NonNullable<Meta['given']>
  readonly options: Meta['options']
  readonly starter: string
  /** The person, where that is another name. */
  readonly starter_person?: string | undefined
  readonly body_hash: string
  /** The run it goes on from. */
  readonly continues?: string
  /** The run whose results it takes over, and the first run of their lineage. */
  readonly retry_of?: NonNullable<Meta['retry_of']>
  readonly root?: string
  /** The run whose place it takes. */
  readonly iterates?: NonNullable<Meta['iterates']>
  /** The run whose goal it tries again. */
  readonly pivots?: NonNullable<Meta['pivots']>
  /** The run whose end or event fired the trigger that starts it. */
  readonly follows?: NonNullable<Meta['follows']> | undefined
  /** What its completion is judged by. */
  readonly goal?: NonNullable<Meta['goal']>
  /** It waits for a slot among the active runs, or its turn: it owes no start yet. */
  readonly queued?: boolean
  /** Runs of its key take turns. */
  readonly turn?: Meta['turn'] | undefined
  readonly priority?: number | undefined
  /** The block that waits for this run, its task token, and the deadline this run may not outlive. */
  readonly parent?: { readonly link: ParentLink; readonly token: string; readonly deadline_at: string }
  /** Besides those of policy and document: of a child what its parent has reserved for it. */
  readonly caps?: Caps
  /** All it begins with. */
  readonly labels?: Labels
  /** Digests of whose data it holds. */
  readonly subjects?: readonly string[] | undefined
  /** It answers a question: the object of what was asked. */
  readonly research?: { readonly intent_ref: string; readonly inputs_hash: string }
}

/**
 * Object -> HEAD and META if absent. HEAD owes its own start, so that a crash after it is healed by the
 * sweeper. `meta` is that of the run that is there, whoever made it.
 */
export async function createRun(
  world: CreateWorld,
  order: RunOrder,
): Promise<{ readonly created: boolean; readonly meta: Meta }> {
  const { run, dag, dag_hash, machine, context, overrides, options, starter, body_hash, parent, research } = order
  const { world: counted } = openCountedStorage(world, run)
  const stored = await counted.objects.put(run.tenant, documentBody(dag))
  await keepScripts(counted, order)
  const now = world.clock.now()
  const meta: Meta = {
    ...run,
    dag_name: dag.name,
    dag_hash,
    dag_ref: stored.ref,
    machine,
    starter,
    ...(order.starter_person === undefined ? {} : { starter_person: order.starter_person }),
    created_at: new Date(now).toISOString(),
    body_hash,
    inputs_hash: research?.inputs_hash ?? sha256(canonicalJson({ context, overrides })),
    overrides,
    options,
    blocks: dag.blocks.length,
    ...waitsOf(order),
    ...(parent === undefined ? {} : { parent: parent.link }),
    ...linksOf(order),
    ...(order.edited === undefined ? {} : { edited: order.edited }),
    ...(order.children === undefined ? {} : { children: order.children }),
    ...(order.given === undefined ? {} : { given: order.given }),
    ...(order.goal === undefined ? {} : { goal: order.goal }),
    ...foundBy(order),
    ...(research === undefined ? {} : { kind: 'research', intent_ref: research.intent_ref }),
    ...(world.settings.audit.anchor === 'none' ? {} : { anchor: world.settings.audit.anchor }),
  }
  const token = parent === undefined ? {} : { parent_token: parent.token }
  const caps = smallestCaps(runCaps(world.settings.safety, dag.budget), order.caps ?? {})
  const told = endpointEntries(toldEndpoints(world.settings), meta)
  const made = newRun(meta, context, caps, { deadline_at: deadlineOf(order, now), now, told })
  const words = searchedWords(dag, context)
  return counted.runs.create({ ...(order.queued === true ? inQueue(made) : made), ...token, ...words })
}

/** Of a lineage: each names its own, and has those of the runs before it. */
const MOST_SUBJECTS = 50

/** Its labels, whose data it holds, and whether words of its outputs find it. */
function foundBy({ labels = {}, subjects = [], dag }: RunOrder): Pick<Meta, 'labels' | 'subjects' | 'searched'> {
  return {
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(subjects.length > 0 && { subjects: [...new Set(subjects)].slice(0, MOST_SUBJECTS) }),
    ...((dag.searched?.outputs.length ?? 0) > 0 && { searched: true }),
  }
}

function searchedWords({ searched }: Dag, context: NewRun['context']): Pick<NewRun, 'words'> {
  const values = searched?.inputs.flatMap((name) => (Object.hasOwn(context, name) ? [context[name] ?? null] : [])) ?? []
  return values.length === 0 ? {} : { words: wordsOf(values) }
}

/** What its gates run by is the run's own from here on, and as old as its document. */
async function keepScripts({ objects }: Pick<World, 'objects'>, { run, dag, scripts }: RunOrder): Promise<void> {
  for (const version of versionsOfDag(dag)) {
    const text = scripts?.get(version)
    if (text !== undefined) await objects.put(run.tenant, Buffer.from(text))
  }
}

/** Those of a run of the same document, made before. */
export async function keptScripts(
  { objects }: Pick<World, 'objects'>,
  tenant: string,
  dag: Dag,
): Promise<ReadonlyMap<string, string>> {
  const scripts = new Map<string, string>()
  for (const version of versionsOfDag(dag)) {
    scripts.set(version, Buffer.from(await objects.get(tenant, scriptRef(tenant, version))).toString('utf8'))
  }
  return scripts
}

function linksOf(order: RunOrder): Pick<Meta, 'continues' | 'retry_of' | 'root' | 'iterates' | 'pivots' | 'follows'> {
  const { continues, retry_of, root, iterates, pivots, follows } = order
  return {
    ...(continues === undefined ? {} : { continues }),
    ...(retry_of === undefined ? {} : { retry_of }),
    ...(root === undefined ? {} : { root }),
    ...(iterates === undefined ? {} : { iterates }),
    ...(pivots === undefined ? {} : { pivots }),
    ...(follows === undefined ? {} : { follows }),
  }
}

function waitsOf({ turn, priority = 0 }: RunOrder): Pick<Meta, 'turn' | 'priority'> {
  return { ...(turn === undefined ? {} : { turn }), ...(priority === 0 ? {} : { priority }) }
}

function deadlineOf({ options, parent }: RunOrder, now: number): string {
  return earlierTime(parent?.deadline_at, new Date(now + options.deadline_sec * 1_000).toISOString())
}

interface Bounds {
  readonly deadline_at: string
  readonly now: number
  /** The webhooks and buses that are told of this run. */
  readonly told: NewRun['outbox']
}

function newRun(meta: Meta, context: NewRun['context'], caps: Caps, { deadline_at, now, told }: Bounds): NewRun {
  const { dag_name, dag_hash, inputs_hash, starter, starter_person, options, created_at, parent, goal } = meta
  const { max_parallel, deadline_sec } = options
  const started = {
    dag_name,
    dag_hash,
    inputs_hash,
    starter,
    ...(starter_person === undefined ? {} : { starter_person }),
    deadline_at,
    caps: { max_parallel, deadline_sec, ...caps },
  }
  return {
    meta,
    context,
    caps,
    deadline_at,
    check_at: earlierTime(deadline_at, new Date(now + OUTBOX_GRACE_MS).toISOString()),
    event: {
      type: 'run:started',
      data: {
        ...started,
        ...(parent && { parent }),
        ...linkNames(meta),
        ...changeNames(meta),
        ...labelNames(meta),
        ...(goal && { goal: goalNames(goal) }),
      },
    },
    outbox: [{ id: 'start', at: created_at, kind: 'start_run' }, ...told],
  }
}

function linkNames({ continues, retry_of, iterates, pivots, follows }: Meta): Partial<EventData<'run:started'>> {
  return {
    ...(continues !== undefined && { continues }),
    ...(retry_of && { retry_of: retry_of.run_id }),
    ...(iterates && { iterates: iterates.run_id }),
    ...(pivots && { pivots: pivots.run_id }),
    ...(follows && { follows: follows.run_id }),
  }
}

/** Hashes and names: the values are in META. */
function changeNames({ overrides, edited, given = [] }: Meta): Partial<EventData<'run:started'>> {
  const ports = Object.keys(overrides)
  const keys = given.map(({ key }) => key)
  const { of, dag_hash, added = [], removed = [], changed = [] } = edited ?? {}
  return {
    ...(ports.length > 0 && {
      overrides: { sha256: sha256(canonicalJson(overrides)), count: ports.length, ports: fewNames(ports) },
    }),
    ...(keys.length > 0 && {
      context: { sha256: sha256(canonicalJson(given as unknown as Json)), count: keys.length, keys: fewNames(keys) },
    }),
    ...(of !== undefined &&
      dag_hash !== undefined && { edited: { of, dag_hash, blocks: fewNames([...changed, ...added, ...removed]) } }),
  }
}

/** As many as an event has room for. */
function labelNames({ labels }: Meta): Pick<EventData<'run:started'>, 'labels'> {
  if (labels === undefined) return {}
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return { labels: { sha256: sha256(canonicalJson(labels)), count: all.length, first: fewNames(all) } }
}

const NAMES_BYTES = 200

function fewNames(all: readonly string[]): string[] {
  let bytes = 0
  return all.filter((name) => {
    bytes += Buffer.byteLength(name)
    return bytes <= NAMES_BYTES
  })
}

function goalNames({ contract_hash, source }: NonNullable<Meta['goal']>): EventData<'run:started'>['goal'] {
  return { ...(contract_hash !== undefined && { contract_hash }), ...(source !== undefined && { source }) }
}

/** The store adds the start it owes when it is released. */
function inQueue({ event, ...run }: NewRun): NewRun {
  if (event.type !== 'run:started') return { event, ...run }
  return {
    ...run,
    event: { ...event, data: { ...event.data, queued: true } },
    outbox: run.outbox.filter(({ kind }) => kind !== 'start_run'),
    queued: true,
  }
}
