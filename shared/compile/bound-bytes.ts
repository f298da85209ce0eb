/** Length of a function's or machine's ARN in bound text; those of long stage names are a little longer. */
const ARN_BYTES = 100

/** Bytes of machine text once its placeholders are bound. It is ASCII: nothing a user wrote but ids is in it. */
export function boundBytes(text: string): number {
  return text.length + (text.match(/\$\{\w+\}/g) ?? []).reduce((sum, { length }) => sum + ARN_BYTES - length, 0)
}

/** A placeholder stands in a state of 300 bytes and more: machine text grows by less than a third. */
const GROWTH = 4 / 3

/** Whether the bound text has room; the placeholders are counted only where it is close. */
export function fitsBound(text: string, bytes: number): boolean {
  return text.length * GROWTH <= bytes || boundBytes(text) <= bytes
}
