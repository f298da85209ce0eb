import { MachineSignal } from '../../shared/errors.ts'

/** The machine waits for a person's answer and comes back with it, in the same epoch of its bounce module. */
export function askPerson({ e }: { readonly e?: number | undefined }): MachineSignal {
  return new MachineSignal('AskPerson', e === undefined ? { s: 0 } : { s: 0, e })
}
