import { Fault } from '../../shared/errors.ts'

/**
 * For the `catch` of an object that a run's own record names: it was put before the record was written, so one that is not
 * there is away for a moment. Throws Unavailable in place of NotFound, and the machine asks again. `what`: a noun.
 */
export function notYetThere(what: string): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof Fault && cause.name === 'NotFound')) throw cause
    throw new Fault('Unavailable', cause.code, `${cause.message} It is ${what}.`, { cause })
  }
}
