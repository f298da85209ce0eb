import { MachineSignal } from '../../shared/errors.ts'

/** The machine comes back after `s` seconds, in the same epoch of its bounce module. */
export function retryBlock({ e }: { readonly e?: number | undefined }, s = 0): MachineSignal {
  return new MachineSignal('RetryBlock', e === undefined ? { s } : { s, e })
}
