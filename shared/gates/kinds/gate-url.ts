import * as z from 'zod'
import { safeOneLine } from '../../text/redact.ts'
import { strictUrl } from '../../text/url.ts'

/** A URL that a document's author writes: checked when the document is parsed. */
export const UrlSchema = z.string().superRefine((text, context) => {
  const message = askableUrl(text)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})

/** Why no gate can ask this URL, whatever the operator allows; undefined = it may be tried. */
export function askableUrl(text: string): string | undefined {
  const read = strictUrl(text)
  if (!read.ok) return `must be a URL, "${safeOneLine(text, 100)}" ${read.message}`
  const { protocol, username, password } = read.url
  if (protocol !== 'http:' && protocol !== 'https:') return `must be an http or https URL, has ${protocol}`
  return username === '' && password === '' ? undefined : 'must not carry a user name or password'
}
