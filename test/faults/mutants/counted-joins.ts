import type { Mutant } from '../mutant.ts'
import { type Command, type Input, sending, sortKeyOf, withInput } from './rewriting.ts'

/** The attribute `done` is a number here; who reads it is shown a set of that size. */
export const countedJoins: Mutant = {
  name: 'counted-joins',
  what: 'a join counts its signals instead of keeping the set of who signalled',
  client: sending((send) => async (command) => {
    if (!sortKeyOf(command).startsWith('J#')) return send(command)
    return shownAsSet(await send(counting(command)))
  }),
}

/** A signal counts up; a wait compares the number, not the size of a set. */
function counting(command: Command): Command {
  const { input } = command
  const done = aliasOf(input, 'done')
  const member = new RegExp(`ADD ${done} (:\\w+)`).exec(input.UpdateExpression ?? '')?.[1]
  const values = { ...input.ExpressionAttributeValues, ...(member === undefined ? {} : { [member]: { N: '1' } }) }
  const condition = input.ConditionExpression?.replaceAll(`size(${done})`, done)
  return withInput(command, {
    ...input,
    ExpressionAttributeValues: values,
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
  })
}

function aliasOf({ ExpressionAttributeNames: names = {} }: Input, name: string): string {
  return Object.keys(names).find((alias) => names[alias] === name) ?? ''
}

function shownAsSet(answer: { readonly Attributes?: Readonly<Record<string, { readonly N?: string }>> }): object {
  const many = Number(answer.Attributes?.done?.N ?? 0)
  const shown = many === 0 ? {} : { done: { SS: Array.from({ length: many }, (_, i) => String(i)) } }
  const { done: _number, ...rest } = answer.Attributes ?? {}
  return { ...answer, Attributes: { ...rest, ...shown } }
}
