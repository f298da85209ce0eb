import { InvalidArgumentError } from 'commander'

/** Reads an option as a whole number from `min` to `max`; anything else is a usage error. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const read = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (read >= min && read <= max) return read
    throw new InvalidArgumentError(`A whole number from ${min} to ${max} is needed.`)
  }
}
