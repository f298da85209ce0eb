import { TRIGGER_ROUTES } from '../../shared/api/trigger-routes.ts'
import { Fault } from '../../shared/errors.ts'
import { changeHandler } from '../http-handler.ts'
import { deployedDocument } from '../runs/documents.ts'
import { checkStartValues } from '../runs/start-values.ts'
import { requireTrigger } from './declared-triggers.ts'
import { inputsOf } from './keep-firing.ts'
import { isSampleMatch, sampleOccasion } from './sample-occasion.ts'
import { comingTimes } from './show-trigger.ts'

/** Reads, computes and judges what a firing would, and keeps nothing. */
export const handler = changeHandler({
  name: 'try-trigger',
  schema: TRIGGER_ROUTES['try-trigger'],
  async run({ principal: { tenant }, params, body }, world) {
    const { trigger } = await requireTrigger(world, tenant, params)
    const key = { tenant, ...params }
    const next_times = comingTimes(world, trigger)
    const problems: { code: string; message: string }[] = []
    const note = (error: unknown): undefined => {
      if (!(error instanceof Fault) || error.name === 'Unavailable' || error.name === 'Bug') throw error
      const { issues, code, message } = error
      if (issues.length === 0) problems.push({ code, message })
      else problems.push(...issues.map((issue) => ({ code, message: `${issue.path}: ${issue.message}` })))
    }
    const occasion = await sampleOccasion(world, key, trigger, body).catch(note)
    if (occasion === undefined) return { json: { ok: false, known: false, inputs: {}, problems, next_times } }
    if (!(await isSampleMatch(world, key, trigger, occasion)))
      problems.push({ code: 'no_match', message: NO_MATCH[trigger.kind] ?? NO_MATCH.event })
    const inputs = (await inputsOf(world, key, trigger, occasion).catch(note)) ?? {}
    const bound = await deployedDocument(world, tenant, params.document)
    if (bound === undefined) problems.push({ code: 'invalid_dag', message: unsound(params.document) })
    else if (problems.length === 0) judge(() => checkStartValues(bound.dag, { inputs }), note)
    const known = (await world.triggers.firing(key, occasion.id)) !== undefined
    const ok = problems.length === 0 && !known
    return { json: { ok, id: occasion.id, known, inputs: { ...inputs }, problems, next_times } }
  },
})

const NO_MATCH: Readonly<Record<string, string>> & { readonly event: string } = {
  event: 'Its match is not true of this event: nothing would be fired.',
  object: 'Its prefix and suffix are not those of this key: nothing would be fired.',
}

function judge(check: () => unknown, note: (error: unknown) => undefined): void {
  try {
    check()
  } catch (error) {
    note(error)
  }
}

function unsound(document: string): string {
  return `DAG "${document}" has errors: see \`sluice validate\`.`
}
