// The editor imports DOMPurify by these names, from a copy of its own. The package has one export.

import purifier from 'dompurify';

export const { addHook, removeHook, sanitize } = purifier;
