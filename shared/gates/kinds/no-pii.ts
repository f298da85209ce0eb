import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { MAX_SAFETY_BYTES, PortNameSchema, readPort, textsIn, tooLargeResult } from '../read-facts.ts'

/** Kinds of personal data the gate knows. */
const PII_KINDS = ['email', 'iban', 'card', 'us_ssn', 'ip', 'phone'] as const
type PiiKind = (typeof PII_KINDS)[number]

/**
 * A text with its personal data replaced by `[kind]`, and how often each occurred. IBANs by length and checksum (ISO
 * 13616), cards by issuer digit and Luhn's checksum (ISO 7812), IP addresses of versions 4 and 6; phone numbers as
 * +41 44 668 18 00, 0041.. or the American 555-123-4567. Every run is bounded or starts only where it starts: linear.
 */
function redactPersonalData(text: string): {
  readonly redacted: string
  readonly counts: Readonly<Partial<Record<PiiKind, number>>>
} {
  const counts: Partial<Record<PiiKind, number>> = {}
  let redacted = text.replace(INVISIBLE, '')
  for (const kind of PII_KINDS) {
    const { shape, holds } = SHAPES[kind]
    redacted = redacted.replace(shape, (found) => {
      if (!holds(found)) return found
      counts[kind] = (counts[kind] ?? 0) + 1
      return `[${kind}]`
    })
  }
  return { redacted, counts }
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

interface Shape {
  readonly shape: RegExp
  readonly holds: (found: string) => boolean
}

const SHAPES: Readonly<Record<PiiKind, Shape>> = {
  email: {
    shape: /(?<![\p{L}\p{N}._%+'-])[\p{L}\p{N}._%+'-]+@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu,
    holds: () => true,
  },
  iban: { shape: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?![A-Za-z0-9])/gi, holds: isIban },
  card: { shape: /(?<!\d)[2-6]\d{3}(?:[ -]?\d){9,15}(?!\d)/g, holds: isCard },
  us_ssn: { shape: /(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/g, holds: () => true },
  ip: {
    shape:
      /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)|[0-9a-f:]{2,30}(?::|\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})(?![\w:]))/gi,
    holds: isAddress,
  },
  phone: {
    shape:
      /(?<![\w+])(?:\+|00)[1-9](?:[ ()./-]{0,3}\d){7,14}(?!\d)|(?<![\w-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])/g,
    holds: () => true,
  },
}

/** What follows an IBAN after a blank may look like more of it: its country says how long it is. */
function isIban(found: string): boolean {
  const compact = found.replace(/[ -]/g, '').toUpperCase()
  const length = IBAN_LENGTHS.get(compact.slice(0, 2))
  if (length === undefined || compact.length < length) return false
  const iban = compact.slice(0, length)
  let rest = 0
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    for (const digit of String(Number.parseInt(letter, 36))) rest = (rest * 10 + Number(digit)) % 97
  }
  return rest === 1
}

/** SWIFT's IBAN registry (2024). */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 ' +
    'LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 ' +
    'SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

function isCard(found: string): boolean {
  const digits = [...found.replace(/\D/g, '')].map(Number).reverse()
  const sum = digits.reduce((total, digit, i) => total + (i % 2 === 0 ? digit : doubled(digit)), 0)
  return digits.length >= 13 && digits.length <= 19 && sum % 10 === 0
}

function doubled(digit: number): number {
  return digit > 4 ? digit * 2 - 9 : digit * 2
}

/** The URL parser knows every form of version 6; `std::map` and `12:30` are none. */
function isAddress(found: string): boolean {
  const parts = found.split('.')
  if (!found.includes(':')) return parts.length === 4 && parts.every((part) => Number(part) <= 255)
  return /\d/.test(found) && found.replace(/[^:]/g, '').length >= 2 && URL.parse(`http://[${found}]/`) !== null
}

const NoPiiSchema = z.strictObject({
  port: PortNameSchema,
  kinds: z
    .array(z.enum(PII_KINDS))
    .min(1)
    .max(PII_KINDS.length)
    .default([...PII_KINDS]),
})
type NoPii = z.infer<typeof NoPiiSchema>

export const noPii: Gate<NoPii> = {
  type: 'no_pii',
  summary:
    'Passes when the port (a text, or every text and number in a list or object) holds no personal data of these kinds: e-mail addresses, IBANs and card numbers with a right checksum, US social security numbers, IP addresses, phone numbers; the facts show the place with all of them replaced by `[kind]`.',
  params: NoPiiSchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'answer' }, outputs: { answer: 'Write to the help desk, room 12.' }, passes: true },
    { check: { port: 'answer' }, outputs: { answer: 'Write to ada@example.com.' }, passes: false },
    { check: { port: 'answer', kinds: ['iban'] }, outputs: { answer: 'Write to ada@example.com.' }, passes: true },
  ],
  check,
}

function check({ port, kinds }: NoPii, facts: GateFacts): CheckResult {
  const texts = textsIn(readPort(facts, port))
  if (texts === undefined) return tooLargeResult(port, MAX_SAFETY_BYTES)
  const answers = texts.map(redactPersonalData)
  const found = kinds.map((kind) => ({
    kind,
    count: answers.reduce((sum, { counts }) => sum + (counts[kind] ?? 0), 0),
  }))
  const bad = found.filter(({ count }) => count > 0)
  if (bad.length === 0) return { passed: true, reason: 'holds no personal data of these kinds', facts: { port } }
  const first = answers.find(({ counts }) => bad.some(({ kind }) => counts[kind] !== undefined))
  const redacted = around(
    first?.redacted ?? '',
    bad.map(({ kind }) => kind),
  )
  const reason = `must hold no personal data: take out ${bad.map(({ kind, count }) => `${count} ${kind}`).join(', ')}`
  return { passed: false, reason, facts: { port, found: bad, redacted } }
}

/** 100 characters around the first thing taken out. */
function around(redacted: string, kinds: readonly PiiKind[]): string {
  const at = Math.min(...kinds.map((kind) => redacted.indexOf(`[${kind}]`)).filter((place) => place !== -1))
  const from = Math.max(0, at - 50)
  return redacted.slice(from, from + 100).toWellFormed()
}
