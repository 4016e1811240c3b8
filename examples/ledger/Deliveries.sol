// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Who delivered what: each note stays as it was written, and names its writer.
contract Deliveries {
    struct Note {
        address writer;
        string what;
    }

    Note[] private notes;

    event Delivered(uint256 indexed number, address indexed writer, string what);

    function deliver(string calldata what) external {
        emit Delivered(notes.length, msg.sender, what);
        notes.push(Note(msg.sender, what));
    }

    function count() external view returns (uint256) {
        return notes.length;
    }

    function note(uint256 number) external view returns (address writer, string memory what) {
        Note storage found = notes[number];
        return (found.writer, found.what);
    }
}
