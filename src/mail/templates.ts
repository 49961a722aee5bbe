import type { MailContent } from './mail-sender.ts'

/** Longer names would hide what the e-mail says. */
const LONGEST_NAME = 80

export interface Invited {
  readonly link: string
  /** Who invites; undefined: whoever runs the gateway. */
  readonly invitedBy?: string | undefined
  /** The name of the organization and the role there, and those of the team, where it is to one. */
  readonly organization?: { readonly name: string; readonly role: string } | undefined
  readonly team?: { readonly name: string; readonly role: string } | undefined
  readonly expiresAt: Date
}

export function invitationMail({ link, invitedBy, organization, team, expiresAt }: Invited): MailContent {
  const to = team?.name ?? organization?.name
  const who = invitedBy === undefined ? 'The administrator of a model gateway' : oneLine(invitedBy)
  const places = [
    ...(organization ? [`the organization ${quoted(organization.name)} as ${roleWords(organization.role)}`] : []),
    ...(team ? [`the team ${quoted(team.name)} as ${roleWords(team.role)}`] : []),
  ]
  return mail({
    subject: to === undefined ? 'You are invited to a model gateway' : `You are invited to ${quoted(to)}`,
    paragraphs: [
      places.length === 0
        ? `${who} invites you to a model gateway.`
        : `${who} invites you to join ${places.join(' and ')}.`,
      `The invitation can be accepted once, until ${moment(expiresAt)}.`,
    ],
    action: 'Accept the invitation',
    link,
    unexpected:
      'If you did not expect this invitation, you need not do anything: nothing changes unless you accept it. Whoever opens the link can accept it, so do not pass this e-mail on.',
  })
}

export interface Resetting {
  readonly link: string
  readonly expiresAt: Date
}

export function resetMail({ link, expiresAt }: Resetting): MailContent {
  return mail({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody, probably you, asked for a new password of your account at the model gateway.',
      `The link works once, until ${moment(expiresAt)}.`,
    ],
    action: 'Set a new password',
    link,
    unexpected:
      'If it was not you, you need not do anything: your password stays as it is. Do not pass this e-mail on.',
  })
}

export function testMail(): MailContent {
  return mail({
    subject: 'A test of e-mail',
    paragraphs: ['An administrator of the model gateway has sent this to see whether e-mail arrives. It does.'],
    unexpected: 'You need not do anything.',
  })
}

interface Parts {
  readonly subject: string
  readonly paragraphs: readonly string[]
  readonly action?: string
  readonly link?: string
  /** What to do if the e-mail was not expected. */
  readonly unexpected: string
}

/** Both forms of one e-mail. The HTML loads nothing from anywhere. */
function mail({ subject, paragraphs, action, link, unexpected }: Parts): MailContent {
  const lines = [...paragraphs, ...(link === undefined ? [] : [`${action}:\n${link}`]), unexpected]
  const shown = [
    ...paragraphs.map(paragraph),
    ...(link === undefined ? [] : [button(action ?? link, link), paragraph(`Or open this address: ${link}`)]),
    `<p style="color:#666;font-size:13px">${escaped(unexpected)}</p>`,
  ]
  return {
    subject: oneLine(subject),
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(oneLine(subject))}</title></head>
<body style="font-family:sans-serif;font-size:15px;line-height:1.5;color:#222;max-width:36em;margin:2em auto;padding:0 1em">
${shown.join('\n')}
</body></html>
`,
    ...(link === undefined ? {} : { link }),
  }
}

function paragraph(words: string): string {
  return `<p style="overflow-wrap:anywhere">${escaped(words)}</p>`
}

function button(words: string, link: string): string {
  const style =
    'display:inline-block;padding:10px 18px;background:#1f4ed8;color:#fff;text-decoration:none;border-radius:6px'
  return `<p><a href="${escaped(link)}" style="${style}">${escaped(words)}</a></p>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(words: string): string {
  return words.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)
}

function quoted(name: string): string {
  return `“${shortened(oneLine(name))}”`
}

/** Names are written by people: no line ends, which would begin a header, and nothing that turns the direction of text. */
function oneLine(words: string): string {
  return words
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
}

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME).toWellFormed()}…`
}

function roleWords(role: string): string {
  return role.replace(/^(org|team)_/, '').replaceAll('_', ' ')
}

/** `22 November 2026, 14:05 UTC` */
function moment(at: Date): string {
  const day = at.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return `${day}, ${at.toISOString().slice(11, 16)} UTC`
}
