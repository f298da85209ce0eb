import { dagNameIn, triggersOf } from '../../shared/document/trigger-section.ts'
import { Fault } from '../../shared/errors.ts'
import { didYouMean, listed, suggest } from '../../shared/text/wording.ts'
import type { Trigger } from '../../shared/triggers/trigger.ts'
import type { World } from '../../shared/world.ts'

/** A trigger and the deployed document it stands in. */
export interface Declared {
  readonly document: string
  readonly trigger: Trigger
}

type ReadWorld = Pick<World, 'documents'>

/** The triggers of every deployed document, in order; `unsound`: documents in which something of them is wrong. */
export async function declaredTriggers(
  world: ReadWorld,
): Promise<{ readonly declared: readonly Declared[]; readonly unsound: readonly string[] }> {
  const declared: Declared[] = []
  const unsound: string[] = []
  for (const document of world.documents.names('deployed')) {
    const { triggers, sound } = await triggersIn(world, document)
    if (!sound) unsound.push(document)
    declared.push(...triggers.map((trigger) => ({ document, trigger })))
  }
  return { declared, unsound }
}

const kept = new Map<string, ReturnType<typeof triggersOf>>()
const MOST_KEPT = 1_000

/** Read once a text: somebody looks each second. */
async function triggersIn({ documents }: ReadWorld, document: string): Promise<ReturnType<typeof triggersOf>> {
  const text = await documents.read(document, 'deployed').catch(() => null)
  if (text === null) return { triggers: [], sound: false }
  if (text === undefined || !text.includes('triggers')) return NONE
  const there = kept.get(text)
  if (there !== undefined) return there
  const read = triggersOf(text)
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(text, read)
  return read
}

const NONE = { triggers: [], sound: true }

/** What runs of a deployed document are called: as it calls itself, else by its own name. */
export async function dagNameOf({ documents }: ReadWorld, document: string): Promise<string> {
  const text = await documents.read(document, 'deployed').catch(() => undefined)
  return (text === undefined ? undefined : dagNameIn(text)) ?? document
}

/** One of them; undefined where there is none of these names. */
export async function findTrigger(world: ReadWorld, document: string, name: string): Promise<Declared | undefined> {
  if (!world.documents.names('deployed').includes(document)) return undefined
  const { triggers } = await triggersIn(world, document)
  const trigger = triggers.find((one) => one.name === name)
  return trigger === undefined ? undefined : { document, trigger }
}

/** The trigger a route names. Fault NotFound unknown_trigger, with what there is; for another tenant there is nothing. */
export async function requireTrigger(
  world: ReadWorld & Pick<World, 'settings'>,
  tenant: string,
  { document, trigger: name }: { readonly document: string; readonly trigger: string },
): Promise<Declared> {
  const isOwner = tenant === world.settings.triggers.tenant
  const found = isOwner ? await findTrigger(world, document, name) : undefined
  if (found !== undefined) return found
  const declared = isOwner ? (await declaredTriggers(world)).declared : []
  const known = declared.map((one) => `${one.document}/${one.trigger.name}`)
  const hint = didYouMean(suggest(`${document}/${name}`, known))
  const there = known.length === 0 ? 'No document starts runs here by itself.' : `There are ${listed(known)}.`
  const message = `Cannot find trigger "${name}" of DAG "${document}". ${there}${hint === undefined ? '' : ` ${hint}`}`
  throw new Fault('NotFound', 'unknown_trigger', message)
}
